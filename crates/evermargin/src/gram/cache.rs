//! Kernel rows kept under a byte budget; the least recently used make room.
//!
//! All rows live in one anonymous mapping with huge pages where the system has them: with small pages, faults
//! would cost as much as computing the rows of cheap kernels.

use crate::error::{Error, Result};
use memmap2::{MmapMut, MmapOptions};

const NOWHERE: u32 = u32::MAX;

/// Rows of one width, at most `capacity` of them.
#[derive(Debug)]
pub struct RowCache {
    width: usize,
    capacity: usize,
    /// Room for `capacity` rows; the system hands out memory as it is touched.
    memory: MmapMut,
    slots: Vec<Slot>,
    /// Slot of each row, or `NOWHERE`.
    slot_of: Vec<u32>,
    clock: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    row: usize,
    used: u64,
}

impl RowCache {
    /// A cache for `rows` rows of `width` values in `bytes`, but always room for `least` rows.
    pub fn new(rows: usize, width: usize, bytes: usize, least: usize) -> Result<Self> {
        let capacity = (bytes / (4 * width.max(1))).max(least).min(rows);
        let room = capacity * width * 4;
        let memory = MmapOptions::new().len(room.max(1)).map_anon().map_err(|e| {
            Error::Data(format!("{room} bytes for kernel rows could not be had ({e}): lower the cache size"))
        })?;
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self { width, capacity, memory, slots: Vec::new(), slot_of: vec![NOWHERE; rows], clock: 0 })
    }

    /// Most rows held at once.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The row, if it is here.
    pub fn get(&self, row: usize) -> Option<&[f32]> {
        let values: &[f32] = bytemuck::cast_slice(&self.memory[..self.capacity * self.width * 4]);
        match self.slot_of[row] {
            NOWHERE => None,
            slot => values.get(slot as usize * self.width..(slot as usize + 1) * self.width),
        }
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

    /// Memory for new rows, to be filled by the caller: unused while there is some, then that of the least
    /// recently used. Rows touched last stay, so they and the new ones must not pass the capacity.
    pub fn claim(&mut self, rows: &[usize]) -> Vec<&mut [f32]> {
        let fresh = rows.len().min(self.capacity - self.slots.len());
        let mut places = self.oldest(rows.len() - fresh);
        for &p in &places {
            self.slot_of[self.slots[p].row] = NOWHERE;
        }
        places.extend(self.slots.len()..self.slots.len() + fresh);
        self.slots.resize(self.slots.len() + fresh, Slot { row: 0, used: 0 });
        places.sort_unstable();
        for (&row, &p) in rows.iter().zip(&places) {
            self.slots[p] = Slot { row, used: self.clock };
            self.slot_of[row] = p as u32;
        }
        let values: &mut [f32] = bytemuck::cast_slice_mut(&mut self.memory[..self.capacity * self.width * 4]);
        let mut slots = values.chunks_exact_mut(self.width.max(1));
        let mut next = 0;
        let take = |&p: &usize| {
            let slot = slots.nth(p - next);
            next = p + 1;
            slot
        };
        places.iter().filter_map(take).collect()
    }

    /// Rows held, least recently used first.
    pub fn held(&self) -> Vec<usize> {
        let mut order: Vec<(u64, usize)> = self.slots.iter().map(|s| (s.used, s.row)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, row)| row).collect()
    }

    /// The `count` slots used longest ago.
    fn oldest(&self, count: usize) -> Vec<usize> {
        let mut slots: Vec<usize> = (0..self.slots.len()).collect();
        if count > 0 && count < slots.len() {
            slots.select_nth_unstable_by_key(count, |&s| (self.slots[s].used, self.slots[s].row));
        }
        slots.truncate(count);
        slots
    }
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
    fn holds_its_budget_and_drops_the_least_recently_used() {
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
    fn never_holds_more_than_the_budget_over_a_long_run() {
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
