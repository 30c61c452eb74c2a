use std::sync::Arc;

use hashbrown::HashSet;

/// The maximum number of hosts that the engine remembers.
const MAX_HOSTS: usize = 1024;

/// Values of `Host` that TypeScript has accepted as well-formed and allowed. A clone shares the values.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Arc<HashSet<Arc<[u8]>>>);

impl Hosts {
    /// Adds a host, unless the set is full.
    pub fn learn(&mut self, host: &[u8]) {
        if self.0.len() < MAX_HOSTS && !host.is_empty() {
            Arc::make_mut(&mut self.0).insert(host.into());
        }
    }

    /// Returns whether the set contains exactly these bytes.
    pub fn contains(&self, host: &[u8]) -> bool {
        self.0.contains(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_only_the_exact_values_that_it_learned() {
        let mut hosts = Hosts::default();
        let before = hosts.clone();
        hosts.learn(b"example.com");
        assert!(hosts.contains(b"example.com"));
        assert!(!hosts.contains(b"Example.com"));
        assert!(!before.contains(b"example.com"));
        hosts.learn(b"");
        assert!(!hosts.contains(b""));
    }

    #[test]
    fn learns_at_most_1024_hosts() {
        let mut hosts = Hosts::default();
        for number in 0..=MAX_HOSTS {
            hosts.learn(number.to_string().as_bytes());
        }
        hosts.learn(b"1");
        assert!((0..MAX_HOSTS).all(|number| hosts.contains(number.to_string().as_bytes())));
        assert!(!hosts.contains(b"1024"));
    }
}
