@0xd5b6b1d1f1a1c0de;


struct MsgInfo {
  kind @0 :UInt64;
  timestamp @1 :UInt64;
  guid @2 :UInt64;
}


struct LidarPoint {
  position0 @0 :Float32;
  position1 @1 :Float32;
  position2 @2 :Float32;
  intensity @3 :UInt8;
}


struct LidarPointsMsg {
  info @0 :MsgInfo;
  points @1 :List(LidarPoint);
}

using Java = import "/java.capnp";
$Java.package("wg");
$Java.outerClassname("Messages");
