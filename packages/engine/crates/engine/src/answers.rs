use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, Guard};
use serve_dist_core::{AcceptedValues, Table};

use crate::copier::Bodies;
use crate::observe::BuildLabels;

/// The data for answers. One pointer replaces all of it, so that choices and answers are always of the same build.
#[derive(Clone, Default)]
pub struct Answers {
    pub table: Option<Table>,
    /// The classes for metrics and logs.
    pub labels: Arc<BuildLabels>,
    /// The bodies that are sent from files.
    pub bodies: Arc<Bodies>,
    /// The allowed values of `Host`.
    pub hosts: AcceptedValues,
}

/// The answers of the current build.
#[derive(Default)]
pub struct CurrentAnswers {
    answers: ArcSwap<Answers>,
    change_lock: Mutex<()>,
}

impl CurrentAnswers {
    pub fn load(&self) -> Guard<Arc<Answers>> {
        self.answers.load()
    }

    /// Replaces the answers.
    pub fn set(&self, answers: Answers) {
        self.change(|current| *current = answers);
    }

    /// Changes a copy and replaces the answers. The lock prevents lost updates.
    pub fn change(&self, change: impl FnOnce(&mut Answers)) {
        let guard = self.change_lock.lock();
        let mut answers = Answers::clone(&self.load());
        change(&mut answers);
        self.answers.store(Arc::new(answers));
        drop(guard);
    }
}
