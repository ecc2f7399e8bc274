// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@testable import NFCReaders

@Suite struct `What an app sends through the gate` {
    private static let whole: [UInt8] = [0x52, 0x54, 4, 1, 2, 3, 4, 0x54, 0, 0x54, 2, 9, 8]
    private static let messages: [GateMessages.Message] = [
        .purpose(.session), .tag([1, 2, 3, 4]), .tag([]), .tag([9, 8]),
    ]

    @Test func `Is taken apart the same however it arrives`() {
        for cut in 0...Self.whole.count {
            var reader = GateMessages()
            #expect(reader.take(Self.whole[..<cut]) + reader.take(Self.whole[cut...]) == Self.messages)
        }
        var reader = GateMessages()
        #expect(Self.whole.flatMap { reader.take([$0]) } == Self.messages)
        var cut = GateMessages()
        #expect(cut.take(Self.whole.dropLast()) == Self.messages.dropLast())
    }

    @Test(arguments: [[0x00], [0x52, 0x52], [0x43, 0x54, 11], [0x54, 1, 1], [0x52, 0x54, 255]] as [[UInt8]])
    func `Ends with what no app says`(bytes: [UInt8]) {
        var reader = GateMessages()
        #expect(reader.take(bytes).last == .nonsense)
        #expect(reader.take(Self.whole) == [])
    }
}
