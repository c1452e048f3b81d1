package org.example;

import java.nio.ByteBuffer;
import org.example.scan.Scan;
import org.example.wiregauge.Wire;
import org.example.wiregauge.WireException;

/** Writes a scan as ROS 2 does, and reads it again. */
public final class Example {
    private Example() {}

    /** Takes no arguments. */
    public static void main(String[] arguments) throws WireException {
        Scan scan = new Scan();
        scan.ranges = new float[] {1.5F, 2.5F};
        scan.name = "front";
        ByteBuffer bytes = Wire.CDR_WITH_HEADER.serialize(scan);
        int size = bytes.remaining();
        Scan again = Wire.CDR_WITH_HEADER.deserialize(bytes, new Scan());
        if (!again.equals(scan)) {
            throw new AssertionError(again);
        }
        System.out.println("a scan of " + again.ranges.length + " ranges in " + size + " bytes");
    }
}
