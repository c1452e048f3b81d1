package wiregauge_runner;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** What the virtual machine counts of itself. */
final class Machine {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Machine() {}

    /** The bytes that this thread has allocated. */
    static long allocated() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    /** The milliseconds that collections took. */
    static long collecting() {
        long all = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            all += Math.max(bean.getCollectionTime(), 0);
        }
        return all;
    }

    /** How many collections there were. */
    static long collections() {
        long all = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            all += Math.max(bean.getCollectionCount(), 0);
        }
        return all;
    }
}
