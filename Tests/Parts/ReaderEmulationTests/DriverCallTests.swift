// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
import Testing

/// Calls the driver's functions for a reader whose program does not run, and with arguments that pcscd should not pass.
@Suite(.serialized) struct `The driver and a reader that has not come` {
    private static let badArguments = 612
    private static let notSupported = 614
    private static let absent = 616
    private static let noDevice = 617
    private static let lun: UInt = 0xA_0000
    private static let unknown: UInt = 0xB_0000

    /// Opens a channel, and closes it after the calls.
    private static func withChannel(_ body: () -> Void) {
        // The whole name is the path where nothing is before a colon.
        var name = Array("/no-such-folder/reader.sock".utf8CString)
        #expect(unsafe IFDHCreateChannelByName(lun, &name) == 0)
        body()
        #expect(IFDHCloseChannel(lun) == 0)
        #expect(IFDHCloseChannel(lun) == noDevice)
    }

    @Test func `A channel is made once, and needs a path`() {
        Self.withChannel {
            var name = Array("/dev/null:/no-such-folder/reader.sock".utf8CString)
            #expect(unsafe IFDHCreateChannelByName(Self.lun, &name) == Self.badArguments)
            #expect(IFDHICCPresence(Self.lun) == Self.absent)
        }
        for path in ["", "/dev/null:"] {
            var name = Array(path.utf8CString)
            #expect(unsafe IFDHCreateChannelByName(Self.unknown, &name) == Self.badArguments)
        }
        #expect(IFDHICCPresence(Self.unknown) == Self.noDevice)
    }

    @Test(arguments: [(1, 0), (2, 0), (0, 607), (3, 607), (4, 607)] as [(UInt, Int)])
    func `Both protocols of cards are the same, and there is no other`(number: UInt, result: Int) {
        Self.withChannel {
            #expect(IFDHSetProtocolParameters(Self.lun, number, 0, 0, 0, 0) == result)
        }
        #expect(IFDHSetProtocolParameters(Self.unknown, number, 0, 0, 0, 0) == Self.noDevice)
    }

    @Test func `No capability can be set, and one that is not known has no length`() {
        Self.withChannel {
            var value: [UInt8] = [7]
            #expect(unsafe IFDHSetCapabilities(Self.lun, 0x0303, 1, &value) == Self.notSupported)
            for (lun, tag) in [(Self.lun, 0x0FFF), (Self.lun, 0x1_0199), (Self.unknown, 0x0303)] as [(UInt, UInt)] {
                var length: UInt = 1
                #expect(unsafe IFDHGetCapabilities(lun, tag, &length, &value) != 0)
                #expect(length == 0 && value == [7])
            }
            #expect(unsafe IFDHSetCapabilities(Self.unknown, 0x0303, 1, &value) == Self.noDevice)
        }
    }

    @Test func `A power command that is none is refused, and any other has no device`() {
        Self.withChannel {
            for (action, result) in [(499, 614), (503, 614), (500, 617), (501, 617), (502, 617)] as [(UInt, Int)] {
                var atr = [UInt8](repeating: 7, count: 33)
                var length: UInt = 33
                #expect(unsafe IFDHPowerICC(Self.lun, action, &atr, &length) == result)
                #expect(atr.allSatisfy { $0 == 7 })
                #expect(length == (result == Self.noDevice ? 0 : 33))
            }
        }
    }

    @Test(arguments: [0, 65548, 65549])
    func `A command is 65548 bytes long at most, and none has an answer`(count: Int) {
        Self.withChannel {
            var command = [UInt8](repeating: 0, count: max(count, 1))
            var response = [UInt8](repeating: 7, count: 2)
            let header = IFDHeader(protocol: 1, length: 16)
            var received = IFDHeader(protocol: 9, length: 9)
            var length: UInt = 2
            let isLong = count > 65548
            let sent = unsafe IFDHTransmitToICC(Self.lun, header, &command, UInt(count), &response, &length, &received)
            #expect(sent == (isLong ? Self.badArguments : Self.absent) && length == 0)
            #expect(received.protocol == 9 && received.length == 9)
            length = 2
            let asked = unsafe IFDHControl(Self.lun, 0x4200_0001, &command, UInt(count), &response, 2, &length)
            #expect(asked == (isLong ? Self.badArguments : Self.noDevice) && length == 0)
            #expect(response == [7, 7])
        }
    }
}
