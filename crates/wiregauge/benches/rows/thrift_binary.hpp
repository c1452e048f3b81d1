// Thrift by hand, by its binary protocol.
#include <thrift/protocol/TBinaryProtocol.h>

template <class Transport>
using Protocol = apache::thrift::protocol::TBinaryProtocolT<Transport>;
