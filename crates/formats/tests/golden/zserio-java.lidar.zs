package wg;

struct MsgInfo
{
  uint64 kind;
  uint64 timestamp;
  uint64 guid;
};

struct LidarPoint
{
  float32 position[3];
  uint8 intensity;
};

struct LidarPointsMsg
{
  MsgInfo info;
  LidarPoint points[];
};
