use hashbrown::HashSet;

/// How many hosts are known at most.
pub const MAX_HOSTS: usize = 1024;

/// The values of `Host` of which TypeScript has said that they are well-formed and allowed.
#[derive(Clone, Debug, Default)]
pub struct Hosts(HashSet<Box<[u8]>>);

impl Hosts {
    /// Knows a value from now on; says whether there was room for it.
    pub fn learn(&mut self, host: &[u8]) -> bool {
        if self.0.len() >= MAX_HOSTS || host.is_empty() {
            return self.knows(host);
        }
        self.0.insert(host.into());
        true
    }

    /// Whether this very value is known.
    pub fn knows(&self, host: &[u8]) -> bool {
        self.0.contains(host)
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_very_values_that_it_learned() {
        let mut hosts = Hosts::default();
        assert!(hosts.learn(b"example.com"));
        assert!(hosts.knows(b"example.com"));
        assert!(!hosts.knows(b"Example.com"));
        assert!(!hosts.learn(b""));
        assert!(!hosts.knows(b""));
    }

    #[test]
    fn learns_1024_hosts() {
        let mut hosts = Hosts::default();
        assert!((0..MAX_HOSTS).all(|number| hosts.learn(number.to_string().as_bytes())));
        assert!(!hosts.learn(b"example.com"));
        assert!(hosts.learn(b"1"));
        assert_eq!(hosts.len(), MAX_HOSTS);
    }
}
