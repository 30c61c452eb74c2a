use std::sync::Arc;

use hashbrown::HashSet;

/// How many hosts are known at most.
const MAX_HOSTS: usize = 1024;

/// The values of `Host` of which TypeScript has said that they are well-formed and allowed. A copy shares their text.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Arc<HashSet<Arc<[u8]>>>);

impl Hosts {
    /// Knows a value from now on, where there is room for it.
    pub fn learn(&mut self, host: &[u8]) {
        if self.0.len() < MAX_HOSTS && !host.is_empty() {
            Arc::make_mut(&mut self.0).insert(host.into());
        }
    }

    /// Whether this very value is known.
    pub fn contains(&self, host: &[u8]) -> bool {
        self.0.contains(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_very_values_that_it_learned() {
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
    fn learns_1024_hosts() {
        let mut hosts = Hosts::default();
        for number in 0..=MAX_HOSTS {
            hosts.learn(number.to_string().as_bytes());
        }
        hosts.learn(b"1");
        assert!((0..MAX_HOSTS).all(|number| hosts.contains(number.to_string().as_bytes())));
        assert!(!hosts.contains(b"1024"));
    }
}
