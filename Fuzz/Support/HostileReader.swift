// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink

/// A PC/SC service with one reader, whose answers come from an input.
final class HostileReader: SmartCardLayer, @unchecked Sendable {
    // Safe: only the target's thread makes calls.
    static let name = "ACS ACR122U PICC Interface 00 00"
    private var answerToReset: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private(set) var calls = 0

    /// Frames of each technology: reads and writes of one block and of several, halts, and invalid commands.
    static let requests = [
        Frame([0x30, 0x04]), Frame([0xA2, 0x04, 1, 2, 3, 4]), Frame([0x3A, 0x00, 0x10]), Frame([0x60]),
        Frame([0x02, 0x20, 0x00]), Frame([0x02, 0x21, 0x00, 1, 2, 3, 4]), Frame([0x02, 0x23, 0x00, 0x07]),
        Frame([0x02, 0x2B]), Frame([0x22, 0x20, 1, 2, 3, 4, 5, 6, 7, 0xE0, 0x01]),
        Frame([16, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x0B, 0, 1, 0x80, 0x00]), Frame([]),
    ]

    /// Starts again with a card and the answers that follow.
    func begin(_ answerToReset: [UInt8], answers: ArraySlice<UInt8>) {
        self.answerToReset = answerToReset
        rest = answers
        calls = 0
    }

    private func next() throws(SmartCardError) -> [UInt8] {
        calls += 1
        guard let kind = rest.popFirst() else { throw SmartCardError(.notTransacted, "The input") }
        switch kind {
        case 0xFF: throw SmartCardError(.removedCard, "The input")
        case 0xFE: throw SmartCardError(.notTransacted, "The input")
        case 0xFD: return [0x90, 0x00]
        default:
            defer { rest = rest.dropFirst(Int(kind)) }
            return Array(rest.prefix(Int(kind)))
        }
    }

    var isServiceLikely: Bool { true }
    func establishContext(_ cut: CancellationSignal) throws(SmartCardError) -> Int { 1 }
    func releaseContext(_ context: Int) {}
    func abandon(_ context: Int) {}
    func listReaders(_ context: Int) throws(SmartCardError) -> [String] { [Self.name] }
    func waitForChange(
        _ context: Int,
        milliseconds: UInt32?,
        of states: [SmartCardReaderState]
    ) throws(SmartCardError) -> [SmartCardReaderState]? { nil }
    func waitForService(milliseconds: Int, _ cut: CancellationSignal) {}
    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle {
        SmartCardHandle(handle: 1, answerToReset: answerToReset)
    }
    func reset(
        _ card: SmartCardHandle,
        _ share: SmartCardShare,
        _ disposition: SmartCardDisposition
    ) throws(SmartCardError) -> SmartCardHandle { card }
    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition) {}
    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8] { try next() }
    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8] { try next() }
    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8] {
        try next()
    }
}
