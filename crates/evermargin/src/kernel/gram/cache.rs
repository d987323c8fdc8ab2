//! Cache of kernel rows under a byte budget, with eviction of the least recently used rows.
//!
//! All rows are in one anonymous memory mapping, with huge pages where the system supports them: with small pages, page
//! faults would cost as much as computing the rows of cheap kernels.

use crate::error::{Error, Result};
use memmap2::{MmapMut, MmapOptions};

const NO_SLOT: u32 = u32::MAX;

/// At most `capacity` rows of one width; of each row a prefix is stored, by default the whole row.
#[derive(Debug)]
pub struct RowCache {
    width: usize,
    capacity: usize,
    bytes: usize,
    min_rows: usize,
    /// Memory for `capacity` rows; the system allocates pages when they are first used.
    memory: MmapMut,
    slots: Vec<Slot>,
    /// Slots that hold no row.
    free: Vec<u32>,
    /// Slot of each row, or `NO_SLOT`.
    slot_of: Vec<u32>,
    clock: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    row: usize,
    used: u64,
    filled: usize,
}

impl RowCache {
    /// A cache for `rows` rows of `width` values in `bytes`, with a capacity of at least `min_rows` rows.
    pub fn new(rows: usize, width: usize, bytes: usize, min_rows: usize) -> Result<Self> {
        let (mut bytes, mut room) = (bytes, capacity(rows, width, bytes, min_rows));
        let memory = loop {
            match map(room * width * 4) {
                // the system refuses: continue with a smaller cache, in which rows are computed more often
                Err(_) if room > min_rows => {
                    bytes /= 2;
                    room = capacity(rows, width, bytes, min_rows);
                }
                memory => break memory?,
            }
        };
        let capacity = room;
        let (slots, free, slot_of) = (Vec::new(), Vec::new(), vec![NO_SLOT; rows]);
        Ok(Self { width, capacity, bytes, min_rows, memory, slots, free, slot_of, clock: 0 })
    }

    /// An empty cache whose number of rows can grow; see [`RowCache::grow`].
    pub fn growing(mut bytes: usize, min_rows: usize) -> Self {
        let memory = loop {
            match map(bytes) {
                Ok(memory) => break memory,
                Err(_) if bytes > 1 => bytes /= 2,
                // like any collection that cannot allocate
                Err(_) => std::alloc::handle_alloc_error(std::alloc::Layout::new::<f32>()),
            }
        };
        let (slots, free, slot_of) = (Vec::new(), Vec::new(), Vec::new());
        Self { width: 0, capacity: 0, bytes, min_rows, memory, slots, free, slot_of, clock: 0 }
    }

    /// Number of rows of the matrix, cached or not.
    pub fn rows(&self) -> usize {
        self.slot_of.len()
    }

    /// Maximum number of cached rows.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The stored prefix of a row, if the row is cached.
    pub fn get(&self, row: usize) -> Option<&[f32]> {
        match self.slot_of[row] {
            NO_SLOT => None,
            slot => {
                let start = slot as usize * self.width;
                self.values().get(start..start + self.slots[slot as usize].filled)
            }
        }
    }

    /// Marks the rows as used now and returns those that are not cached.
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

    /// Memory for new rows, to be filled by the caller: unused slots first, then those of the least recently used rows.
    /// Rows of the last [`RowCache::touch`] are kept, so together with the new ones they must not exceed the capacity.
    pub fn claim(&mut self, rows: &[usize]) -> Vec<&mut [f32]> {
        let places = self.places(rows);
        let mut slots = self.values_mut().chunks_exact_mut(places.1);
        let mut next = 0;
        let take = |&p: &usize| {
            let slot = slots.nth(p - next);
            next = p + 1;
            slot
        };
        places.0.iter().filter_map(take).collect()
    }

    /// Memory for all rows, contiguous, if the cache is empty and has room for them; to be filled by the caller.
    pub fn claim_all(&mut self) -> Option<&mut [f32]> {
        if self.capacity < self.rows() || !self.slots.is_empty() {
            return None;
        }
        self.places(&(0..self.rows()).collect::<Vec<_>>());
        Some(self.values_mut())
    }

    /// Slots for new rows, ascending, and the width.
    fn places(&mut self, rows: &[usize]) -> (Vec<usize>, usize) {
        let mut places: Vec<usize> = Vec::with_capacity(rows.len());
        while let Some(p) = self.free.pop_if(|_| places.len() < rows.len()) {
            self.slots[p as usize].used = u64::MAX;
            places.push(p as usize);
        }
        let fresh = (rows.len() - places.len()).min(self.capacity - self.slots.len());
        places.extend(self.slots.len()..self.slots.len() + fresh);
        self.slots.resize(self.slots.len() + fresh, Slot { row: 0, used: u64::MAX, filled: 0 });
        let dropped = self.oldest(rows.len() - places.len());
        dropped.iter().for_each(|&p| self.slot_of[self.slots[p].row] = NO_SLOT);
        places.extend(dropped);
        places.sort_unstable();
        for (&row, &p) in rows.iter().zip(&places) {
            self.slots[p] = Slot { row, used: self.clock, filled: self.width };
            self.slot_of[row] = p as u32;
        }
        (places, self.width.max(1))
    }

    /// Cached rows, least recently used first.
    pub fn held(&self) -> Vec<usize> {
        let held = self.slot_of.iter().enumerate().filter(|(_, s)| **s != NO_SLOT);
        let mut order: Vec<(u64, usize)> = held.map(|(r, &s)| (self.slots[s as usize].used, r)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, row)| row).collect()
    }

    /// Makes room for `rows` rows, and widens the slots, up to `widest` values, if necessary.
    pub fn grow(&mut self, rows: usize, widest: usize) -> Result<()> {
        self.slot_of.resize(rows, NO_SLOT);
        if rows > self.width {
            self.set_width((rows + rows / 4).max(64).min(widest.max(rows)))?;
        }
        self.capacity = capacity(rows, self.width, self.bytes, self.min_rows).max(self.slots.len());
        Ok(())
    }

    /// Makes slots exactly as wide as the number of rows, so that the capacity depends on this number alone.
    pub fn fit(&mut self) -> Result<()> {
        let rows = self.slot_of.len();
        self.set_width(rows)?;
        self.capacity = capacity(rows, rows, self.bytes, self.min_rows);
        Ok(())
    }

    /// Changes the width of the slots in place; the least recently used rows that no longer fit are evicted.
    fn set_width(&mut self, width: usize) -> Result<()> {
        let max_rows = capacity(usize::MAX, width, self.bytes, self.min_rows);
        let mut order = self.held();
        order.drain(..order.len().saturating_sub(max_rows)).for_each(|row| self.slot_of[row] = NO_SLOT);
        order.sort_unstable_by_key(|&row| self.slot_of[row]);
        let kept: Vec<Slot> = order.iter().map(|&row| self.slots[self.slot_of[row] as usize]).collect();
        let room = self.bytes.max(self.min_rows * width * 4) / 4 * 4;
        if room > self.memory.len() {
            let mut larger = map(room)?;
            larger[..self.memory.len()].copy_from_slice(&self.memory);
            self.memory = larger;
        }
        let whole = self.memory.len() / 4 * 4;
        let values: &mut [f32] = bytemuck::cast_slice_mut(&mut self.memory[..whole]);
        for (new, slot) in kept.iter().enumerate() {
            let start = self.slot_of[slot.row] as usize * self.width;
            values.copy_within(start..start + slot.filled, new * self.width);
            self.slot_of[slot.row] = new as u32;
        }
        let mut order: Vec<usize> = (0..kept.len()).collect();
        if width > self.width {
            order.reverse(); // so that no row is overwritten before it has moved
        }
        for at in order {
            values.copy_within(at * self.width..at * self.width + kept[at].filled, at * width);
        }
        (self.slots, self.width) = (kept, width);
        self.free.clear();
        Ok(())
    }

    /// Sets the length of the stored prefix of a row.
    pub fn set_filled(&mut self, row: usize, filled: usize) {
        if let Some(slot) = self.slots.get_mut(self.slot_of[row] as usize) {
            slot.filled = filled;
        }
    }

    /// Appends values to the stored prefix of a row.
    pub fn extend(&mut self, row: usize, more: &[f32]) {
        let Some(slot) = self.slots.get_mut(self.slot_of[row] as usize) else { return };
        let start = self.slot_of[row] as usize * self.width + slot.filled;
        slot.filled += more.len();
        self.values_mut()[start..start + more.len()].copy_from_slice(more);
    }

    /// Keeps the given rows and columns (ascending) and removes the others.
    pub fn keep(&mut self, keep: &[usize]) {
        let mut slot_of = vec![NO_SLOT; keep.len()];
        let width = self.width;
        for (new, &row) in keep.iter().enumerate() {
            let at = std::mem::replace(&mut self.slot_of[row], NO_SLOT);
            let Some(slot) = self.slots.get_mut(at as usize) else { continue };
            let filled = keep.partition_point(|&c| c < slot.filled);
            (slot.row, slot.filled, slot_of[new]) = (new, filled, at);
            let values = &mut self.values_mut()[at as usize * width..(at as usize + 1) * width];
            keep[..filled].iter().enumerate().for_each(|(to, &from)| values[to] = values[from]);
        }
        self.free.extend(self.slot_of.iter().filter(|s| **s != NO_SLOT));
        self.slot_of = slot_of;
    }

    fn values(&self) -> &[f32] {
        bytemuck::cast_slice(&self.memory[..self.capacity * self.width * 4])
    }

    fn values_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.memory[..self.capacity * self.width * 4])
    }

    /// The `count` least recently used slots.
    fn oldest(&self, count: usize) -> Vec<usize> {
        let mut slots: Vec<usize> = (0..self.slots.len()).collect();
        if count > 0 && count < slots.len() {
            slots.select_nth_unstable_by_key(count, |&s| (self.slots[s].used, self.slots[s].row));
        }
        slots.truncate(count);
        slots
    }
}

fn capacity(rows: usize, width: usize, bytes: usize, min_rows: usize) -> usize {
    (bytes / (4 * width.max(1))).max(min_rows).min(rows)
}

fn map(room: usize) -> Result<MmapMut> {
    let memory = MmapOptions::new().len(room.max(1)).map_anon().map_err(|e| {
        Error::Data(format!("cannot allocate {room} bytes for kernel rows ({e}): lower the cache size"))
    })?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(cache: &mut RowCache, rows: &[usize]) {
        let missing = cache.touch(rows);
        for (row, memory) in missing.iter().zip(cache.claim(&missing)) {
            memory.fill(*row as f32);
        }
    }

    #[test]
    fn stays_within_its_budget_and_evicts_the_least_recently_used_rows() {
        let mut cache = RowCache::new(100, 10, 4 * 10 * 5, 2).unwrap();
        assert_eq!(cache.capacity(), 5);
        fill(&mut cache, &[1, 2, 3]);
        fill(&mut cache, &[4, 5]);
        fill(&mut cache, &[1]);
        fill(&mut cache, &[6, 7]);
        assert_eq!(cache.held(), vec![4, 5, 1, 6, 7]);
        for row in cache.held() {
            assert_eq!(cache.get(row), Some(&[row as f32; 10][..]));
        }
        assert!(cache.get(2).is_none());
    }

    #[test]
    fn growing_cache_keeps_correct_values_within_its_byte_limit() {
        // entry (r, c) is determined by the points of row r and column c
        let value = |a: u64, b: u64| (a * 31 + b * 17) as f32;
        let mut cache = RowCache::growing(4 * 2000, 2);
        let mut points: Vec<u64> = Vec::new();
        for step in 0..3000u64 {
            points.push(step);
            cache.grow(points.len(), 200).unwrap();
            let row = (step as usize * 7919) % points.len();
            if cache.touch(&[row]).is_empty() {
                let from = cache.get(row).unwrap().len();
                let more: Vec<f32> = points[from..].iter().map(|&p| value(points[row], p)).collect();
                cache.extend(row, &more);
            } else {
                let width = points.len();
                for (to, &p) in cache.claim(&[row])[0].iter_mut().zip(&points) {
                    *to = value(points[row], p);
                }
                cache.set_filled(row, width);
            }
            if points.len() > 90 {
                let keep: Vec<usize> =
                    (0..points.len()).filter(|i| !(i * 13 + step as usize).is_multiple_of(3)).collect();
                cache.keep(&keep);
                points = keep.iter().map(|&i| points[i]).collect();
            }
            assert!(cache.memory.len() <= 8000.max(2 * 4 * cache.width));
            for row in cache.held() {
                let held = cache.get(row).unwrap();
                assert!(held.iter().zip(&points).all(|(&v, &p)| v == value(points[row], p)), "step {step}");
            }
        }
    }

    #[test]
    fn stays_within_its_budget_over_a_long_run() {
        let mut cache = RowCache::new(1000, 4, 4 * 4 * 37, 2).unwrap();
        for step in 0..5000usize {
            let rows = [step * 7919 % 1000, (step * 104_729 + 1) % 1000];
            if rows[0] == rows[1] {
                continue;
            }
            fill(&mut cache, &rows);
            assert!(cache.slots.len() <= 37 && cache.memory.len() == 4 * 4 * 37);
            for row in cache.held() {
                assert_eq!(cache.get(row), Some(&[row as f32; 4][..]));
            }
        }
    }
}
