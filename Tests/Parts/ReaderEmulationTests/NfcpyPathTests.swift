// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import Testing

@Suite struct `nfcpy's name of a line` {
    @Test(arguments: [
        ("/dev/ttyUSB0", "USB0"), ("/dev/ttyACM12", "ACM12"), ("/dev/ttyAMA1", "AMA1"), ("/dev/ttyS3", "S3"),
        ("/dev/ttyS", "ttyS"), ("/dev/ttyUSB0a", "ttyUSB0a"), ("/dev/ttyOCN1", "ttyOCN1"), ("/dev/ocn-1", "ocn-1"),
        ("/dev/O1", "O1"), ("/dev/usb", "usb"),
    ])
    func `It has the kind and number of a usual line, and otherwise the whole name`(line: String, name: String) {
        #expect(NfcpyPath(line: line)?.text == "tty:\(name):pn532")
    }

    @Test(arguments: [
        "/dev/", "/dev/a_b", "/dev/pts/3", "/dev/../tmp/line", "/dev/caf\u{E9}", "/tmp/ttyUSB0", "ttyUSB0", "",
    ])
    func `A line elsewhere than in /dev, or with other characters than nfcpy takes, has none`(line: String) {
        #expect(NfcpyPath(line: line) == nil)
    }

    @Test(arguments: ["S", "ACM", "AMA", "USB", "S1", "USB0", "ACM12", "usbserial", "usbserial-1"])
    func `A name that nfcpy takes for that of another line has none`(name: String) {
        #expect(NfcpyPath(line: "/dev/" + name) == nil)
    }
}
