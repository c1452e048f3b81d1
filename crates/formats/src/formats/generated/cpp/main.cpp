#include "holder.hpp"

int main() { return wiregauge::serve<Generated>(); }
