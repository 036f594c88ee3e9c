//! A binary heap that can take out any of its items.
//!
//! Invariant: no item is due before its parent, and whoever owns the items knows the position of each: every move is
//! reported.

use crate::time::Nanos;

/// Instants in heap order, each with the slot it belongs to.
pub(super) struct Heap {
    items: Vec<Item>,
}

#[derive(Clone, Copy)]
struct Item {
    at: Nanos,
    slot: u32,
}

impl Heap {
    pub(super) const fn new() -> Self {
        Self { items: Vec::new() }
    }

    /// The item that is due first.
    #[inline]
    pub(super) fn first(&self) -> Option<(Nanos, u32)> {
        self.items.first().map(|item| (item.at, item.slot))
    }

    /// Adds an item. `moved(slot, position)` is called for it and for each item it displaces.
    pub(super) fn push(&mut self, at: Nanos, slot: u32, mut moved: impl FnMut(u32, u32)) {
        let position = self.items.len();
        self.items.push(Item { at, slot });
        self.rise(position, &mut moved);
    }

    /// Takes out the item at `position`. `moved` is called for the others that change theirs.
    pub(super) fn remove(&mut self, position: u32, mut moved: impl FnMut(u32, u32)) {
        let position = position as usize;
        self.items.swap_remove(position);
        if position < self.items.len() {
            // The last item, which took the place, may be due before the new parent or after the new children.
            let position = self.rise(position, &mut moved);
            self.sink(position, &mut moved);
        }
    }

    /// Moves an item up to where its parent is no later, and returns its new position.
    fn rise(&mut self, mut position: usize, moved: &mut impl FnMut(u32, u32)) -> usize {
        let item = self.items[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.items[parent].at <= item.at {
                break;
            }
            self.settle(position, self.items[parent], moved);
            position = parent;
        }
        self.settle(position, item, moved);
        position
    }

    /// Moves an item down to where its children are no sooner.
    fn sink(&mut self, mut position: usize, moved: &mut impl FnMut(u32, u32)) {
        let item = self.items[position];
        loop {
            let left = 2 * position + 1;
            let Some(mut child) = self.items.get(left).copied() else { break };
            let mut at_child = left;
            if let Some(right) = self.items.get(left + 1).copied()
                && right.at < child.at
            {
                (child, at_child) = (right, left + 1);
            }
            if item.at <= child.at {
                break;
            }
            self.settle(position, child, moved);
            position = at_child;
        }
        self.settle(position, item, moved);
    }

    fn settle(&mut self, position: usize, item: Item, moved: &mut impl FnMut(u32, u32)) {
        self.items[position] = item;
        // There are no more items than slots, which are numbered in 32 bits.
        #[allow(clippy::cast_possible_truncation)]
        moved(item.slot, position as u32);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Checks the invariant against the positions that the owner knows.
    #[cfg(test)]
    pub(super) fn check(&self, position_of: impl Fn(u32) -> u32) {
        for (position, item) in self.items.iter().enumerate() {
            assert_eq!(position_of(item.slot) as usize, position, "the owner knows the position");
            if position > 0 {
                assert!(
                    self.items[(position - 1) / 2].at <= item.at,
                    "no item is due before its parent"
                );
            }
        }
    }
}
