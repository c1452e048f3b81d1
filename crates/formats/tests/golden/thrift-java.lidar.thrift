namespace java wg

struct MsgInfo {
  1: required i64 kind,
  2: required i64 timestamp,
  3: required i64 guid,
}

struct LidarPoint {
  1: required double position_0,
  2: required double position_1,
  3: required double position_2,
  4: required i8 intensity,
}

struct LidarPointsMsg {
  1: required MsgInfo info,
  2: required list<LidarPoint> points,
}
