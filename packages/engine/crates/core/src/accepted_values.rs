use std::sync::Arc;

use hashbrown::HashSet;

/// The maximum number of values of a set.
const MAX_VALUES: usize = 1024;

/// Values of a field that TypeScript has accepted, such as allowed hosts. A clone shares the values.
#[derive(Clone, Default)]
pub struct AcceptedValues(Arc<HashSet<Arc<[u8]>>>);

impl AcceptedValues {
    /// Adds a value. A full set forgets all others. Returns whether the set has changed.
    pub fn learn(&mut self, value: &[u8]) -> bool {
        if value.is_empty() || self.contains(value) {
            return false;
        }
        if self.0.len() >= MAX_VALUES {
            *self = Self::default();
        }
        Arc::make_mut(&mut self.0).insert(value.into())
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
    fn forgets_all_values_when_it_is_full() {
        let mut values = AcceptedValues::default();
        for number in 0..MAX_VALUES {
            values.learn(number.to_string().as_bytes());
        }
        assert!((0..MAX_VALUES).all(|number| values.contains(number.to_string().as_bytes())));
        values.learn(b"1024");
        assert!(values.contains(b"1024"));
        assert!(!values.contains(b"1"));
    }
}
