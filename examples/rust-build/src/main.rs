//! Writes a scan as ROS 2 does, and reads it again.

include!(concat!(env!("OUT_DIR"), "/scan.include.rs"));

use scan::Scan;
use wiregauge::CdrWithHeader;

fn main() -> Result<(), wiregauge::Error> {
    let scan = Scan { ranges: vec![1.5, 2.5], name: "front".into(), ..Scan::default() };
    let mut bytes = Vec::new();
    wiregauge::serialize::<CdrWithHeader, _>(&scan, &mut bytes)?;
    let again = wiregauge::deserialize::<CdrWithHeader, Scan>(&bytes)?;
    assert_eq!(again, scan);
    println!("a scan of {} ranges in {} bytes", again.ranges.len(), bytes.len());
    Ok(())
}
