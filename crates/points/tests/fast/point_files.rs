//! Files of points, in each form, and what is refused of them.

use std::fs;
use std::path::Path;

use wiregauge_points::file::PointFileFormat;
use wiregauge_points::{Column, Values};

const HEAD: &str = "# .PCD v0.7\nVERSION 0.7\nFIELDS x _ ring normal\nSIZE 4 1 2 4\nTYPE F U U F\n\
                    COUNT 1 3 1 2\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ";

fn read(name: &str, bytes: &[u8]) -> Result<Vec<Column>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let read = PointFileFormat::from_path(&path).expect("a file of points").read(&path);
    read.map(|points| points.columns).map_err(|error| {
        let error = format!("{error:#}");
        assert!(error.contains(name) && !error.contains('\n'), "{error:?}");
        error
    })
}

fn named_values(columns: &[Column]) -> Vec<(&str, &Values)> {
    columns.iter().map(|column| (&*column.name, &column.values)).collect()
}

fn expected_columns() -> [(&'static str, Values); 4] {
    [
        ("x", Values::F32(vec![1.5, -2.0])),
        ("ring", Values::U16(vec![7, 300])),
        ("normal_0", Values::F32(vec![0.0, 1.0])),
        ("normal_1", Values::F32(vec![f32::INFINITY, 0.25])),
    ]
}

/// A point: x, three bytes of padding, ring, normal.
fn point(x: f32, ring: u16, normal: [f32; 2]) -> Vec<u8> {
    let mut bytes = x.to_le_bytes().to_vec();
    bytes.extend([9, 9, 9]);
    bytes.extend(ring.to_le_bytes());
    normal.iter().for_each(|axis| bytes.extend(axis.to_le_bytes()));
    bytes
}

fn rows() -> Vec<u8> {
    [point(1.5, 7, [0.0, f32::INFINITY]), point(-2.0, 300, [1.0, 0.25])].concat()
}

/// The same, field by field, as literals of LZF.
fn compressed() -> Vec<u8> {
    let rows = rows();
    let (a, b) = rows.split_at(rows.len() / 2);
    let plain: Vec<u8> = [0..4, 4..7, 7..9, 9..17]
        .into_iter()
        .flat_map(|part| [&a[part.clone()], &b[part]].concat())
        .collect();
    let mut bytes = Vec::new();
    for run in plain.chunks(32) {
        bytes.push(run.len() as u8 - 1);
        bytes.extend_from_slice(run);
    }
    [&(bytes.len() as u32).to_le_bytes()[..], &(plain.len() as u32).to_le_bytes(), &bytes].concat()
}

fn pcd(form: &str, body: &[u8]) -> Vec<u8> {
    [HEAD.as_bytes(), form.as_bytes(), b"\n", body].concat()
}

#[test]
fn each_form_of_pcd_is_read() {
    let text = b"1.5 9 9 9 7 0 inf\n-2 9 9 9 300 1 0.25\n";
    for (form, body) in
        [("ascii", &text[..]), ("binary", &rows()), ("binary_compressed", &compressed())]
    {
        let columns = read("a.pcd", &pcd(form, body)).unwrap();
        let wanted = expected_columns();
        let wanted: Vec<(&str, &Values)> = wanted.iter().map(|(n, v)| (*n, v)).collect();
        assert_eq!(named_values(&columns), wanted, "{form}");
    }
}

#[test]
fn files_that_lie_are_refused_in_a_line() {
    let rows = rows();
    let compressed = compressed();
    let mut more_plain = compressed.clone();
    more_plain[4] += 1;
    let mut more_compressed = compressed.clone();
    more_compressed[2] = 1;
    let head = |from: &str, to: &str| {
        assert!(HEAD.contains(from));
        [HEAD.replace(from, to).as_bytes(), b"binary\n", &rows].concat()
    };
    for (bytes, word) in [
        (pcd("binary", &rows[..33]), "the file has 33 bytes"),
        (pcd("ascii", b"1.5 9 9 9 7 0 inf\n"), "1 lines"),
        (pcd("ascii", b"1.5 9 9 9 7 0 inf\n-2 9 9 9 -300 1 0\n"), "ring"),
        (pcd("ascii", b"1 9 9 9 7 0 1 1\n-2 9 9 9 300 1 0\n"), "more numbers"),
        (pcd("binary_compressed", &compressed[..20]), "compressed"),
        (pcd("binary_compressed", &more_plain), "plain"),
        (pcd("binary_compressed", &more_compressed), "compressed"),
        (pcd("zip", &rows), "binary_compressed"),
        (head("POINTS 2", "POINTS 3"), "WIDTH"),
        (head("POINTS 2", "POINTS many"), "POINTS"),
        (head("COUNT 1 3 1 2", "COUNT 1 3 1"), "COUNT"),
        (head("COUNT 1 3 1 2", "COUNT 1 3 1 0"), "normal"),
        (head("TYPE F U U F", "TYPE F U U"), "TYPE"),
        (head("SIZE 4 1 2 4", "SIZE 3 1 2 4"), "F3"),
        (head("FIELDS x _ ring normal", "FIELDS x _ x normal"), "two fields"),
        (head("VERSION 0.7", "VERSION\u{1b}[31m 0.7"), "PCD has no line"),
        (head("VERSION 0.7", "VERSION 0.7\nLIES 1"), "LIES"),
        (head("WIDTH 2\nHEIGHT 1", "WIDTH 4000000000\nHEIGHT 4000000000"), "WIDTH"),
        (HEAD.as_bytes().to_vec(), "DATA"),
        (vec![0xff; 64], "PCD"),
        (b"\xff\n".to_vec(), "PCD"),
    ] {
        let error = read("a.pcd", &bytes).unwrap_err();
        assert!(error.contains(word), "{word}: {error}");
    }
    let error = read("0.pcd.bin", &[0; 36]).unwrap_err();
    assert!(error.contains("20 bytes"), "{error}");
    assert!(read("0.bin", &[0; 31]).unwrap_err().contains("31 bytes"));
}

#[test]
fn points_of_data_sets_are_told_apart_by_name() {
    let five: Vec<u8> = (0..10u8).flat_map(|number| f32::from(number).to_le_bytes()).collect();
    let nuscenes = read("a.PCD.BIN", &five).unwrap();
    assert_eq!(named_values(&nuscenes)[4], ("ring", &Values::F32(vec![4.0, 9.0])));
    let kitti = read("a.bin", &five[..32]).unwrap();
    assert_eq!(named_values(&kitti)[3], ("intensity", &Values::F32(vec![3.0, 7.0])));
    assert_eq!(PointFileFormat::from_path(Path::new("a.mcap")), None);
    assert_eq!(PointFileFormat::from_path(Path::new("bin")), None);
}

#[test]
fn what_fills_gaps_is_passed_over_as_pcl_writes_it() {
    // PCL tells gaps in the head of text, and leaves them out of the lines.
    let text = format!("{HEAD}ascii\n1.5 7 0 inf\n-2 300 1 0.25\n");
    assert_eq!(
        named_values(&read("a.pcd", text.as_bytes()).unwrap()),
        expected_columns().each_ref().map(refer)
    );
    // Of a type that no column has.
    let head =
        HEAD.replace("SIZE 4 1 2 4", "SIZE 4 3 2 4").replace("COUNT 1 3 1 2", "COUNT 1 1 1 2");
    let bytes = [format!("{head}binary\n").into_bytes(), rows()].concat();
    assert_eq!(
        named_values(&read("a.pcd", &bytes).unwrap()),
        expected_columns().each_ref().map(refer)
    );
}

fn refer<'v>((name, values): &'v (&'static str, Values)) -> (&'static str, &'v Values) {
    (name, values)
}
