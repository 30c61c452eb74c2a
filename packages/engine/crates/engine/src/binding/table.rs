use bytes::Bytes;
use napi::Error;
use napi::bindgen_prelude::{Float64Array, Uint8Array, Uint32Array};
use napi_derive::napi;
use serve_dist_core::{Table, TableError, TableParts};

use crate::binding::convert::{Result, invalid, latin1};
use crate::copier::FileParts;
use crate::observe::BuildLabels;

/// The answers of one build.
#[napi(object, object_to_js = false)]
pub struct EngineTable {
    pub text: Uint8Array,
    pub index: Uint32Array,
    pub slabs: Vec<Uint8Array>,
    pub files: Vec<EngineFile>,
    pub codings: Vec<String>,
    pub choices: Uint8Array,
    pub classes: Option<Uint8Array>,
    pub saved: Option<Float64Array>,
}

/// A file with a body that is not in memory.
#[napi(object, object_to_js = false)]
pub struct EngineFile {
    pub path: String,
    pub state: String,
    pub sha256: Option<String>,
}

/// The checked parts of a table.
pub struct Build {
    pub table: Table,
    pub labels: BuildLabels,
    pub files: Vec<FileParts>,
}

/// Checks a table. Observed answers also need labels.
pub fn read_table(table: EngineTable, is_observed: bool) -> Result<Build> {
    let [representations, templates] =
        [1, 3].map(|at| table.index.get(at).map_or(0, |&count| count as usize));
    let labels = BuildLabels {
        classes: table
            .classes
            .map_or_else(Vec::new, |classes| classes.to_vec()),
        saved: table.saved.map_or_else(Vec::new, |saved| {
            saved.iter().map(|&count| count as i64).collect()
        }),
    };
    if is_observed && !labels.match_table(templates, representations) {
        return Err(invalid(
            "the number of classes or saved bytes does not match the table".to_owned(),
        ));
    }
    let files: Vec<FileParts> = table.files.into_iter().map(FileParts::from).collect();
    let table = Table::new(TableParts {
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        text: Bytes::from_owner(table.text),
        index: table.index.to_vec(),
        slabs: table.slabs.into_iter().map(Bytes::from_owner).collect(),
        codings: table.codings.iter().map(|coding| latin1(coding)).collect(),
        choices: table.choices.to_vec(),
    });
    Ok(Build {
        table: table.map_err(table_error)?,
        labels,
        files,
    })
}

impl From<EngineFile> for FileParts {
    fn from(file: EngineFile) -> Self {
        Self {
            path: file.path.into(),
            state: file.state,
            sha256: file.sha256,
        }
    }
}

pub fn table_error(error: TableError) -> Error<String> {
    invalid(error.to_string())
}
