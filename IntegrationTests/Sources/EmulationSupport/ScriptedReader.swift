// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PeerSupport
import Synchronization

/// A reader behind the real pcscd, whose answers a test chooses.
///
/// It speaks to our driver as `nfc emulate` does, but has no tag and may send wrong data.
public final class ScriptedReader: Sendable {
    /// The answer to an APDU.
    public enum Answer: Sendable {
        /// These bytes, even if they are too few or none.
        case bytes([UInt8])
        /// No answer.
        case hang
        /// The reader's driver reports a failure.
        case failure
        /// Bytes that the driver does not understand.
        case garbage
    }

    private struct State: Sendable {
        var connection: Int32 = -1
        var isInserted: Bool
        var apdus: [[UInt8]] = []
    }

    /// pcscd's configuration.
    public let configuration: String
    private let folder: URL
    private let socket: Int32
    private let answerToReset: [UInt8]
    private let answer: @Sendable ([UInt8]) -> Answer
    private let state: Mutex<State>

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - name: its name, to which pcscd adds two numbers.
    ///   - answerToReset: the ATR of the card in it.
    ///   - isInserted: whether the card is inserted at the beginning.
    ///   - answer: returns the answer to each APDU.
    public init(
        _ name: String,
        answerToReset: [UInt8],
        isInserted: Bool = true,
        answer: @escaping @Sendable ([UInt8]) -> Answer
    ) throws {
        folder = URL(fileURLWithPath: "/tmp/ocr-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "reader.sock").path
        socket = try SocketAtPath.listen(path)
        configuration = """
            FRIENDLYNAME "\(name)"
            DEVICENAME   /dev/null:\(path)
            LIBPATH      \(EmulatedTag.tool.deletingLastPathComponent().appending(path: "libOpenCoreNFCReader.so").path)
            CHANNELID    1

            """
        self.answerToReset = answerToReset
        self.answer = answer
        state = Mutex(State(isInserted: isInserted))
        Thread { [socket, weak self] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else {
                    close(socket)
                    return
                }
                self?.serve(connection)
            }
        }.start()
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(at: folder)
    }

    /// The APDUs so far.
    public var apdus: [[UInt8]] { state.withLock { $0.apdus } }

    /// Inserts the card.
    public func insert() { change(true) }

    /// Removes the card.
    public func remove() { change(false) }

    private func change(_ isInserted: Bool) {
        state.withLock { state in
            state.isInserted = isInserted
            if state.connection >= 0 { Self.send(state.connection, isInserted ? 0x49 : 0x4F, 0, []) }
        }
    }

    // MARK: The driver

    private func serve(_ connection: Int32) {
        state.withLock { $0.connection = connection }
        // The reader sends the first message, with the version of the protocol.
        Self.send(connection, 0x48, 0, [2])
        defer {
            state.withLock { $0.connection = -1 }
            close(connection)
        }
        while let header = Self.receive(connection, 6) {
            let length = header[2..<6].reduce(0) { $0 << 8 | Int($1) }
            guard let payload = Self.receive(connection, length) else { return }
            guard perform(header[0], payload, header[1], connection) else { return }
        }
    }

    private func perform(_ kind: UInt8, _ payload: [UInt8], _ sequence: UInt8, _ connection: Int32) -> Bool {
        switch kind {
        case 0x48:  // hello
            if state.withLock({ $0.isInserted }) { Self.send(connection, 0x49, 0, []) }
        case 0x50:  // power
            let isInserted = state.withLock { $0.isInserted }
            let bytes = payload == [0] ? [] : answerToReset
            Self.send(connection, 0x52, sequence, isInserted || payload == [0] ? [0] + bytes : [1])
        case 0x54:  // an APDU
            state.withLock { $0.apdus.append(payload) }
            switch answer(payload) {
            case .bytes(let bytes): Self.send(connection, 0x52, sequence, [0] + bytes)
            case .hang: break
            case .failure: Self.send(connection, 0x52, sequence, [3])
            case .garbage: return Self.write(connection, [UInt8](repeating: 0xA5, count: 64)) && false
            }
        default:  // a control code or an attribute
            Self.send(connection, 0x52, sequence, [2])
        }
        return true
    }

    @discardableResult
    private static func send(_ connection: Int32, _ kind: UInt8, _ sequence: UInt8, _ payload: [UInt8]) -> Bool {
        let length = payload.count
        let header = [kind, sequence] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        return write(connection, header + payload)
    }

    private static func write(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }

    private static func receive(_ connection: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var position = 0
        while position < count {
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(connection, $0.baseAddress.map { unsafe $0 + position }, count - position, 0)
            }
            guard got > 0 else { return nil }
            position += got
        }
        return bytes
    }
}
