use std::sync::Arc;

use hashbrown::HashSet;

/// The maximum number of values of a set.
const MAX_VALUES: usize = 1024;

/// Values of a field that TypeScript has accepted, such as allowed hosts. A clone shares the values.
#[derive(Clone, Default)]
pub struct AcceptedValues(Arc<HashSet<Arc<[u8]>>>);

impl AcceptedValues {
    /// Adds a value, unless the set is full. Returns whether the set has changed.
    pub fn learn(&mut self, value: &[u8]) -> bool {
        let is_new = self.0.len() < MAX_VALUES && !value.is_empty() && !self.contains(value);
        if is_new {
            Arc::make_mut(&mut self.0).insert(value.into());
        }
        is_new
    }

    /// Returns whether the set contains exactly these bytes.
    pub fn contains(&self, value: &[u8]) -> bool {
        self.0.contains(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_only_the_exact_values_that_it_learned() {
        let mut values = AcceptedValues::default();
        let before = values.clone();
        assert!(values.learn(b"example.com"));
        assert!(!values.learn(b"example.com"));
        assert!(values.contains(b"example.com"));
        assert!(!values.contains(b"Example.com"));
        assert!(!before.contains(b"example.com"));
        assert!(!values.learn(b""));
        assert!(!values.contains(b""));
    }

    #[test]
    fn learns_at_most_1024_values() {
        let mut values = AcceptedValues::default();
        for number in 0..=MAX_VALUES {
            values.learn(number.to_string().as_bytes());
        }
        values.learn(b"1");
        assert!((0..MAX_VALUES).all(|number| values.contains(number.to_string().as_bytes())));
        assert!(!values.contains(b"1024"));
    }
}
