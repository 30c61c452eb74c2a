//! Checks that modules only use modules of the same or an earlier layer, without a circle.

use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// The layers of `core`. Each module only uses modules before it.
const CORE: [&str; 3] = [
    "answer accepted_values clock fields head",
    "build_index table",
    "request",
];

/// The layers of `engine`: parts that know no connection, connections, and threads. Each module only uses modules
/// before it.
const ENGINE: [&str; 3] = [
    "tuning time error_code memory limits counters shortage warning restart_on_panic deadline_waker stream_quota \
     answer_end socket listen tls credentials stream body_file streamed_file copier observe head_cache answers event",
    "shared link connection thread links pump relay send http2::self_wake_filter http2::frames http2::wire \
     http2::body_chunk http2::bodies http2::client http2::pinger http2::shutdown http2::table_answer \
     http2::node_session http2::exchange http2::relayed_streams http2 serve",
    "accept drain sweep worker engine event_sink binding::convert binding::address binding::options binding::table \
     binding",
];

#[test]
fn use_only_modules_of_earlier_layers() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    check(&crates.join("core/src"), &CORE);
    check(&crates.join("engine/src"), &ENGINE);
}

fn check(folder: &Path, layers: &[&str]) {
    let order: Vec<&str> = layers
        .iter()
        .flat_map(|layer| layer.split_whitespace())
        .collect();
    let place_of = |path: &str| {
        let is_in = |module: &&str| {
            let rest = path.strip_prefix(module);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let all = order.iter().enumerate();
        all.filter(|(_, module)| is_in(module))
            .max_by_key(|(_, module)| module.len())
            .map(|(place, _)| place)
    };
    let mut modules = Vec::new();
    find_modules(folder, "", &mut modules);
    for module in &modules {
        let place = place_of(module).filter(|&place| order[place] == module);
        let place = place.unwrap_or_else(|| panic!("`{module}` is in no layer"));
        let file = folder.join(module.replace("::", "/") + ".rs");
        let source = read_to_string(file).expect("the file exists");
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(!source.contains("super::"), "`{module}` uses `super::`");
        for used in source.split("crate::").skip(1) {
            let end = used.find(|character: char| !is_of_path(character));
            let used = &used[..end.unwrap_or(used.len())];
            let used_place = place_of(used);
            let is_allowed = used_place.is_some_and(|other| other < place);
            assert!(is_allowed, "`{module}` must not use `{used}`");
        }
    }
    assert_eq!(modules.len(), order.len(), "a listed module is missing");
}

fn is_of_path(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == ':'
}

/// Finds the modules of a crate, except its root and tests.
fn find_modules(folder: &Path, prefix: &str, modules: &mut Vec<String>) {
    for entry in read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if ["lib", "tests", "testing", "properties"].contains(&&*stem) {
            continue;
        }
        if path.is_dir() {
            find_modules(&path, &format!("{prefix}{stem}::"), modules);
        } else {
            modules.push(format!("{prefix}{stem}"));
        }
    }
}
