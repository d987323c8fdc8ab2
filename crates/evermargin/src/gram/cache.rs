//! Kernel rows kept under a byte budget; the least recently used make room.

const NOWHERE: u32 = u32::MAX;

/// Rows of one width, at most `capacity` of them.
#[derive(Debug)]
pub struct RowCache {
    width: usize,
    capacity: usize,
    slots: Vec<Slot>,
    /// Slot of each row, or `NOWHERE`.
    slot_of: Vec<u32>,
    clock: u64,
}

#[derive(Debug)]
struct Slot {
    row: usize,
    used: u64,
    values: Vec<f32>,
}

impl RowCache {
    /// A cache for `rows` rows of `width` values in `bytes`, but always room for `least` rows.
    pub fn new(rows: usize, width: usize, bytes: usize, least: usize) -> Self {
        let capacity = (bytes / (4 * width.max(1))).max(least).min(rows);
        Self { width, capacity, slots: Vec::new(), slot_of: vec![NOWHERE; rows], clock: 0 }
    }

    /// Most rows held at once.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The row, if it is here.
    pub fn get(&self, row: usize) -> Option<&[f32]> {
        self.slots.get(self.slot_of[row] as usize).map(|s| s.values.as_slice())
    }

    /// Marks the rows as used now and returns those that are not here.
    pub fn touch(&mut self, rows: &[usize]) -> Vec<usize> {
        self.clock += 1;
        let mut missing = Vec::new();
        for &row in rows {
            match self.slots.get_mut(self.slot_of[row] as usize) {
                Some(slot) => slot.used = self.clock,
                None => missing.push(row),
            }
        }
        missing
    }

    /// Memory for `count` new rows: fresh while there is room, then that of the least recently used.
    /// Rows touched last stay, so `count` plus the rows just touched must not pass the capacity.
    pub fn make_room(&mut self, count: usize) -> Vec<Vec<f32>> {
        let fresh = count.min(self.capacity - self.slots.len().min(self.capacity));
        let mut room = self.evict(count - fresh);
        room.extend((0..fresh).map(|_| vec![0.0; self.width]));
        room
    }

    /// Frees all but the `count` rows used last.
    pub fn keep_newest(&mut self, count: usize) {
        self.evict(self.slots.len().saturating_sub(count));
    }

    /// Stores a computed row as the most recently used.
    pub fn put(&mut self, row: usize, values: Vec<f32>) {
        self.slot_of[row] = self.slots.len() as u32;
        self.slots.push(Slot { row, used: self.clock, values });
    }

    /// Rows held, least recently used first.
    pub fn held(&self) -> Vec<usize> {
        let mut order: Vec<(u64, usize)> = self.slots.iter().map(|s| (s.used, s.row)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, row)| row).collect()
    }

    fn evict(&mut self, count: usize) -> Vec<Vec<f32>> {
        if count == 0 {
            return Vec::new();
        }
        let mut oldest: Vec<usize> = (0..self.slots.len()).collect();
        let key = |&s: &usize| (self.slots[s].used, self.slots[s].row);
        if count < oldest.len() {
            oldest.select_nth_unstable_by_key(count, key);
            oldest.truncate(count);
        }
        oldest.sort_unstable_by(|a, b| b.cmp(a));
        let mut memory = Vec::with_capacity(count);
        for s in oldest {
            let gone = self.slots.swap_remove(s);
            self.slot_of[gone.row] = NOWHERE;
            if let Some(moved) = self.slots.get(s) {
                self.slot_of[moved.row] = s as u32;
            }
            memory.push(gone.values);
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(cache: &mut RowCache, rows: &[usize]) {
        let missing = cache.touch(rows);
        let room = cache.make_room(missing.len());
        for (row, mut memory) in missing.into_iter().zip(room) {
            memory.fill(row as f32);
            cache.put(row, memory);
        }
    }

    #[test]
    fn holds_its_budget_and_drops_the_least_recently_used() {
        let mut cache = RowCache::new(100, 10, 4 * 10 * 5, 2);
        assert_eq!(cache.capacity(), 5);
        fill(&mut cache, &[1, 2, 3]);
        fill(&mut cache, &[4, 5]);
        fill(&mut cache, &[1]);
        fill(&mut cache, &[6, 7]);
        assert_eq!(cache.held(), vec![4, 5, 1, 6, 7]);
        assert_eq!(cache.slots.len() * cache.width * 4, 200);
        for row in cache.held() {
            assert_eq!(cache.get(row), Some(&[row as f32; 10][..]));
        }
        assert!(cache.get(2).is_none());
        cache.keep_newest(2);
        assert_eq!(cache.held(), vec![6, 7]);
    }

    #[test]
    fn never_holds_more_than_the_budget_over_a_long_run() {
        let mut cache = RowCache::new(1000, 4, 4 * 4 * 37, 2);
        for step in 0..5000usize {
            fill(&mut cache, &[step * 7919 % 1000, (step * 104_729 + 1) % 1000]);
            assert!(cache.slots.len() * cache.width * 4 <= 4 * 4 * 37);
        }
    }
}
