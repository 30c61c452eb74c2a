use proptest::prelude::*;

use super::*;
use crate::build_index::{
    FLAG_HAS_DELTAS, FLAG_HAS_HINTS, HEADER, REPRESENTATION, RESOURCE, RULE_SHIFT, TEMPLATE,
};
use crate::head::{DICTIONARY, LAST_MODIFIED, LENGTH, TAG};
use crate::testing::{HOST, SAMPLES, Sample, table_of};
use crate::{AcceptedValues, Step, decide};

const RESOURCES: usize = HEADER;
const REPRESENTATIONS: usize = HEADER + SAMPLES.len() * RESOURCE;
const TEMPLATES: usize = REPRESENTATIONS + 9 * REPRESENTATION;

fn sound() -> Table {
    Table::new(table_of(&SAMPLES)).expect("the table is valid")
}

/// Returns the error of a table after `change`.
fn error_of(change: impl FnOnce(&mut TableParts)) -> TableError {
    let mut parts = table_of(&SAMPLES);
    change(&mut parts);
    Table::new(parts).expect_err("the table is invalid")
}

#[test]
fn rejects_an_index_of_the_wrong_length() {
    assert_eq!(error_of(|parts| parts.index.clear()), TableError::Index);
    assert_eq!(error_of(|parts| parts.index.truncate(2)), TableError::Index);
    assert_eq!(error_of(|parts| parts.index.push(0)), TableError::Index);
    assert_eq!(
        error_of(|parts| parts.index.truncate(50)),
        TableError::Index
    );
    for at in 0..HEADER {
        assert_eq!(
            error_of(|parts| parts.index[at] = u32::MAX),
            TableError::Index
        );
    }
}

#[test]
fn rejects_a_resource_outside_the_table() {
    let resource = TableError::Resource(0);
    for at in 0..RESOURCE - 1 {
        let change = |parts: &mut TableParts| parts.index[RESOURCES + at] = u32::MAX;
        assert_eq!(error_of(change), resource, "{at}");
    }
    assert_eq!(error_of(|parts| parts.index[RESOURCES + 2] = 2), resource);
    assert_eq!(error_of(|parts| parts.index[RESOURCES + 9] = 4), resource);
    let last = RESOURCES + (SAMPLES.len() - 1) * RESOURCE;
    assert_eq!(
        error_of(|parts| parts.index[last + 4] += 1),
        TableError::Resource(5)
    );
}

#[test]
fn rejects_a_representation_outside_the_table() {
    for at in 0..3 {
        let change = |parts: &mut TableParts| parts.index[REPRESENTATIONS + at] = u32::MAX;
        assert_eq!(error_of(change), TableError::Representation(0), "{at}");
    }
    for (at, number) in [(0, 1), (3, 1), (4, u32::MAX), (5, u32::MAX), (5, 1000)] {
        let change = |parts: &mut TableParts| parts.index[REPRESENTATIONS + at] = number;
        assert_eq!(error_of(change), TableError::Representation(0), "{at}");
    }
}

#[test]
fn rejects_an_invalid_template() {
    for at in 0..TEMPLATE {
        let change = |parts: &mut TableParts| parts.index[TEMPLATES + at] = u32::MAX;
        assert_eq!(error_of(change), TableError::Template(0), "{at}");
    }
    for at in [1, 3] {
        let change = |parts: &mut TableParts| parts.index[TEMPLATES + at] -= 1;
        assert_eq!(error_of(change), TableError::Template(0), "{at}");
    }
}

#[test]
fn rejects_a_duplicate_path() {
    let change = |parts: &mut TableParts| {
        parts
            .index
            .copy_within(RESOURCES..RESOURCES + 2, RESOURCES + RESOURCE)
    };
    assert_eq!(error_of(change), TableError::Path(1));
}

#[test]
fn rejects_choices_of_missing_representations() {
    assert_eq!(
        error_of(|parts| parts.choices.truncate(5)),
        TableError::Choices
    );
    assert_eq!(
        error_of(|parts| parts.choices.push(NODE_CHOICE)),
        TableError::Choices
    );
    assert_eq!(error_of(|parts| parts.choices[0] = 2), TableError::Choices);
    assert_eq!(error_of(|parts| parts.choices[1] = 1), TableError::Choices);
}

#[test]
fn rejects_empty_duplicate_and_long_codings() {
    let with = |coding: Vec<u8>| {
        error_of(|parts| {
            parts.codings.push(coding);
            parts.choices.extend([NODE_CHOICE, NODE_CHOICE]);
        })
    };
    assert_eq!(with(Vec::new()), TableError::Codings);
    assert_eq!(with(b"br".to_vec()), TableError::Codings);
    assert_eq!(with(vec![b'x'; MAX_CODING + 1]), TableError::Codings);
    assert_eq!(error_of(|parts| parts.codings.clear()), TableError::Codings);
}

#[test]
fn accepts_an_empty_table() {
    let parts = TableParts {
        index: vec![0; HEADER],
        codings: vec![Vec::new()],
        ..TableParts::default()
    };
    let table = Table::new(parts).expect("an empty table is valid");
    assert_eq!(table.find(b"/"), None);
}

#[test]
fn finds_each_of_many_paths() {
    let paths: Vec<_> = (0..2000).map(|number| format!("/{number}")).collect();
    let sample = |path| Sample {
        path,
        layout: 1,
        last_modified: "",
        flags: 0,
        representations: &[("", Some(""))],
    };
    let samples: Vec<_> = paths.iter().map(|path| sample(path)).collect();
    let table = Table::new(table_of(&samples)).expect("the table is valid");
    for (number, path) in paths.iter().enumerate() {
        assert_eq!(table.find(path.as_bytes()), Some(number));
    }
    assert_eq!(table.find(b"/2000"), None);
}

#[test]
fn learns_a_coding_in_addition_to_known_ones() {
    let before = sound();
    let table = before
        .with_coding(b"gzip, br", &[0, 0])
        .expect("the choices are valid");
    assert_eq!(table.choose(0, Some(b"gzip, br")), Some(0));
    assert_eq!(table.choose(0, Some(b"br")), Some(0));
    assert_eq!(table.choose(0, Some(b"*;q=0")), None);
    assert_eq!(table.choose(0, None), Some(1));
    assert_eq!(before.choose(0, Some(b"gzip, br")), None);

    let again = table
        .with_coding(b"gzip, br", &[1, NODE_CHOICE])
        .expect("the choices are valid");
    assert_eq!(again.choose(0, Some(b"gzip, br")), Some(1));
    assert_eq!(again.choose(2, Some(b"gzip, br")), None);
    assert_eq!(again.codings.len(), 3);
}

#[test]
fn rejects_choices_that_do_not_match_the_layouts() {
    let table = sound();
    for choices in [&[0][..], &[0, 0, 0], &[2, 0], &[0, 1]] {
        assert_eq!(
            table.with_coding(b"x", choices).err(),
            Some(TableError::Choices)
        );
        assert_eq!(
            table.with_coding(b"br", choices).err(),
            Some(TableError::Choices)
        );
    }
    assert_eq!(
        table.with_coding(b"", &[0, 0]).err(),
        Some(TableError::Codings)
    );
}

#[test]
fn learns_at_most_256_codings() {
    let learn =
        |table: Table, number: usize| table.with_coding(number.to_string().as_bytes(), &[0, 0]);
    let full = (table_of(&SAMPLES).codings.len()..=MAX_CODINGS)
        .try_fold(sound(), learn)
        .expect("the limit is not reached");
    assert_eq!(full.codings.len(), MAX_CODINGS);
    assert_eq!(learn(full.clone(), 1).err(), Some(TableError::Codings));
    assert!(full.with_coding(b"br", &[0, 0]).is_ok());

    let none = full.without_codings();
    assert_eq!((none.codings.len(), none.choose(0, Some(b"br"))), (0, None));
    assert_eq!(none.choose(0, None), Some(1));
    assert!(none.with_coding(b"br", &[0, 0]).is_ok());
}

proptest! {
    /// An accepted table never refers to a position outside itself.
    #[test]
    fn never_reads_outside_an_accepted_table(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![0..200_u32, any::<u32>()]), 0..4),
        choice in (0..6_usize, any::<u8>()),
    ) {
        let mut parts = table_of(&SAMPLES);
        for (at, number) in changes {
            let at = at.index(parts.index.len());
            parts.index[at] = number;
        }
        parts.choices[choice.0] = choice.1;
        let Ok(table) = Table::new(parts) else { return Ok(()) };
        let mut hosts = AcceptedValues::default();
        hosts.learn(HOST.as_bytes());
        let clock = Clock::new(1000, 0);
        for Sample { path, .. } in SAMPLES {
            for field in ["", "Accept-Encoding: br\r\n", "If-None-Match: \"id\"\r\n"] {
                let request = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{field}\r\n");
                if let Step::Answer(answer) = decide(request.as_bytes(), &table, &hosts) {
                    let parts = table.parts(&answer, &clock, false);
                    let mut head = Vec::new();
                    parts.head.write_to(&mut head);
                    prop_assert!(head.ends_with(b"\r\n"));
                }
            }
        }
    }
}

#[test]
fn returns_a_file_only_for_answers_with_a_body() {
    let mut parts = table_of(&SAMPLES);
    let streamed = parts.index[REPRESENTATIONS..]
        .iter()
        .position(|&number| number == NO_SLAB)
        .expect("a sample is streamed")
        + REPRESENTATIONS;
    parts.index[streamed] = 2;
    parts.index[streamed + 2] = 5_000_000;
    assert!(
        Table::new(TableParts {
            files: 1,
            ..parts.clone()
        })
        .is_err()
    );
    let table = Table::new(TableParts { files: 2, ..parts }).expect("the table is valid");
    let mut hosts = AcceptedValues::default();
    hosts.learn(HOST.as_bytes());
    for (method, file) in [("GET", Some((1, 5_000_000))), ("HEAD", None)] {
        let head =
            format!("{method} /streamed HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: br\r\n\r\n");
        let Step::Answer(answer) = decide(head.as_bytes(), &table, &hosts) else {
            panic!("the engine answers")
        };
        assert_eq!(table.file(&answer), file);
    }
}

#[test]
fn answers_a_protected_resource_only_with_a_value_that_its_rule_accepts() {
    let [first, second, open] =
        [(1, "/first"), (2, "/second"), (0, "/open")].map(|(rule, path)| Sample {
            path,
            flags: rule << RULE_SHIFT,
            ..SAMPLES[2]
        });
    let table = Table::new(table_of(&[first, second, open])).expect("the table is valid");
    let mut hosts = AcceptedValues::default();
    hosts.learn(HOST.as_bytes());
    let is_answered = |table: &Table, path: &str, fields: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{fields}\r\n");
        matches!(decide(head.as_bytes(), table, &hosts), Step::Answer(_))
    };
    let accepted = "authorization: Basic YTpi\r\n";
    assert!(!is_answered(&table, "/first", accepted));
    assert!(is_answered(&table, "/open", ""));

    let opened = table
        .with_authorization(1, b"Basic YTpi")
        .expect("it is new");
    assert!(is_answered(&opened, "/first", accepted));
    let others = [
        "",
        "authorization: Basic YTpj\r\n",
        "authorization: basic YTpi\r\n",
    ];
    for fields in others
        .map(str::to_owned)
        .into_iter()
        .chain([accepted.repeat(2)])
    {
        assert!(!is_answered(&opened, "/first", &fields), "{fields}");
    }
    assert!(!is_answered(&opened, "/second", accepted));
    assert!(is_answered(&opened.without_codings(), "/first", accepted));
    for (rule, value) in [(1, "Basic YTpi"), (0, "Basic YTpj"), (3, "Basic YTpj")] {
        assert!(opened.with_authorization(rule, value.as_bytes()).is_none());
    }
}

#[test]
fn has_the_same_numbers_as_typescript() {
    let binding = include_str!("../../../../src/binding.ts");
    for line in [
        format!("resource: {RESOURCE},"),
        format!("representation: {REPRESENTATION},"),
        format!("template: {TEMPLATE},"),
        format!("hasDeltas: {FLAG_HAS_DELTAS},"),
        format!("hasHints: {FLAG_HAS_HINTS},"),
        format!("engineRuleUnit = {}\n", 1 << RULE_SHIFT),
        format!("engineNodeChoice = {NODE_CHOICE}\n"),
        format!("entityTag: '\\u{TAG:04}',"),
        format!("contentLength: '\\u{LENGTH:04}',"),
        format!("lastModified: '\\u{LAST_MODIFIED:04}',"),
        format!("useAsDictionary: '\\u{DICTIONARY:04}',"),
    ] {
        assert!(binding.contains(&line), "{line}");
    }
    assert_eq!(NO_SLAB, 0xff_ff_ff_ff);
    assert!(binding.contains("noSlab = 0xff_ff_ff_ff\n"));
}
