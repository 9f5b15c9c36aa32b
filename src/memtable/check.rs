//! Structure checker: what must hold whenever no writer is at work.

use super::entry::Key;
use super::model_node::Child;
use super::tree::{Memory, Tree};

/// What the checker counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Entries in all data nodes.
    pub entries: usize,
    /// Data nodes that exist.
    pub data_nodes: usize,
    /// Data nodes that are planned but not made.
    pub planned: usize,
    /// Slots of the existing data nodes.
    pub slots: usize,
}

impl<M: Memory> Tree<M> {
    /// Walks the whole tree while no writer is at work.
    ///
    /// # Errors
    /// The first violation found: an entry outside of its node's fences, out of order or not found by its own route, slot keys
    /// that decrease, counts that disagree with the bitmap, fences of parent and child that differ.
    pub fn check(&self) -> Result<Census, String> {
        let mut census = Census::default();
        let top = self.top();
        let mut previous: Option<Key> = None;
        for i in 0..top.children() {
            let model = match top.child(i).ok_or("top: empty child")? {
                Child::Planned(_) => {
                    census.planned += 1;
                    continue;
                }
                Child::Node(model) => Self::as_model(model),
            };
            if model.low() != top.fence(i) {
                return Err(format!("model node {i}: low fence differs from its parent's"));
            }
            for j in 0..model.children() {
                let place = format!("model node {i}, child {j}");
                let node = match model.child(j).ok_or_else(|| format!("{place}: empty"))? {
                    Child::Planned(_) => {
                        census.planned += 1;
                        continue;
                    }
                    Child::Node(node) => Self::as_data(node),
                };
                let high = if j + 1 < model.children() {
                    model.fence(j + 1)
                } else {
                    model.high()
                };
                if node.low() != model.fence(j) || node.high() != high {
                    return Err(format!("{place}: fences differ from the parent's"));
                }
                census.data_nodes += 1;
                census.slots += node.slots();
                self.check_node(node, &mut previous)
                    .map_err(|e| format!("{place}: {e}"))?;
                census.entries += node.entries();
            }
        }
        Ok(census)
    }

    fn check_node(&self, node: super::data_node::DataNode, previous: &mut Option<Key>) -> Result<(), String> {
        let keys: Vec<u64> = (0..node.slots()).map(|s| node.slot_key(s)).collect();
        if let Some(at) = keys.windows(2).position(|w| w[0] > w[1]) {
            return Err(format!(
                "slot keys decrease at {at}: {} then {}",
                keys[at],
                keys[at + 1]
            ));
        }
        if node.rank(node.slots()) != node.entries() {
            return Err(format!(
                "bitmap has {} entries, the count says {}",
                node.rank(node.slots()),
                node.entries()
            ));
        }
        let mut slot = node.occupied_from(0);
        while slot < node.slots() {
            let entry = node
                .entry(slot)
                .ok_or_else(|| format!("slot {slot} is marked but empty"))?;
            let key = entry.key();
            let p = self.project(&key);
            if previous.is_some_and(|previous| previous >= key) {
                return Err(format!("slot {slot}: {previous:?} then {key:?}"));
            }
            if !(node.above_low(&key, p) && node.below_high(&key, p)) {
                return Err(format!("slot {slot}: {key:?} outside of the fences"));
            }
            if self.route(&key, p) != Some(node) {
                return Err(format!("slot {slot}: {key:?} is routed elsewhere"));
            }
            if !node.search(&key, p).exact {
                return Err(format!("slot {slot}: {key:?} is not found by search"));
            }
            *previous = Some(key);
            slot = node.occupied_from(slot + 1);
        }
        Ok(())
    }
}
