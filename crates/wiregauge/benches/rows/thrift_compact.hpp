// Thrift by hand, by its compact protocol.
#include <thrift/protocol/TCompactProtocol.h>

template <class Transport>
using Protocol = apache::thrift::protocol::TCompactProtocolT<Transport>;
