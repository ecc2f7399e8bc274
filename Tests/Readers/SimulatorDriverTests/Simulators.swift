// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SimulatorDriver
import SimulatorTesting
import TagLink

let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)

extension FakeSimulator {
    /// A simulator that greets, and answers each request with lines.
    ///
    /// - Parameter answers: learns what the request asks for, and its number.
    static func scripted(
        greeting: String = greeting,
        _ answers: @escaping @Sendable (_ request: String, _ id: Int) -> [String]
    ) -> FakeSimulator {
        FakeSimulator { _, request in
            if request["hello"] != nil { return [greeting] }
            guard let id = request["id"] as? Int else { return [] }
            return answers(request["do"] as? String ?? "", id)
        }
    }

    /// A simulator that answers every frame in the same way, and every other request but a claim.
    static func answering(_ members: String = #""bytes":"4400","checksum":"none""#) -> FakeSimulator {
        scripted { request, id in
            switch request {
            case "claim": []
            case "frame": [#"{"id":\#(id),\#(members)}"#]
            default: [#"{"id":\#(id)}"#]
            }
        }
    }

    /// How many lines with a part have come.
    func count(_ part: String) -> Int { lines.count { $0.contains(part) } }

    /// Waits until so many lines with a part have come.
    ///
    /// - Returns: the number of the last of these requests.
    @discardableResult func receives(_ part: String, times: Int = 1) async throws -> Int {
        while count(part) < times { try await Task.sleep(for: .milliseconds(2)) }
        let line = lines.last { $0.contains(part) } ?? ""
        return (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Request)?["id"] as? Int ?? 0
    }

    /// Ends all connections, and waits until a reader has connected again and all that belongs to that has come.
    func restart(for reader: SimulatorReader) async throws {
        let before = count("\"hello\"")
        end()
        while count("\"hello\"") == before {
            try? await reader.prepare()
            try await Task.sleep(for: .milliseconds(2))
        }
        try await reader.setCarrier(true)
    }
}

extension SimulatorReader {
    /// Sends REQA.
    @discardableResult func ask(timeout: Airtime = .milliseconds(1)) async throws(LinkError) -> Frame {
        guard let link = link(for: .nfcA) else { throw LinkError(.unsupported, "No NFC-A.") }
        return try await link.transceive(reqA, timeout: timeout)
    }

    /// The error of REQA, or of a greeting; nil when there is none.
    func failure() async -> LinkError? {
        do throws(LinkError) {
            try await ask()
            return nil
        } catch {
            return error
        }
    }
}

/// A connection to a simulator that a test plays by itself.
struct SocketPair: Sendable {
    /// The reader's end, which does not block. The reader closes it.
    let reader: Int32
    /// The simulator's end, which the test closes.
    let simulator: Int32

    init() throws(LinkError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw LinkError(.readerUnavailable, "There are no sockets.")
        }
        (reader, simulator) = (ends[0], ends[1])
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    }

    /// Sends a line to the reader.
    func send(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = unsafe Glibc.send(simulator, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Fills the connection with spaces, so that the reader can send nothing more.
    func fill() {
        let noise = [UInt8](repeating: 0x20, count: 4096)
        for size in [4096, 1] { while unsafe Glibc.send(reader, noise, size, Int32(MSG_NOSIGNAL)) > 0 {} }
    }

    /// Whether the reader has ended the connection. Reads what it has sent before.
    var hasEnded: Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count = 1
        while count > 0 { count = unsafe recv(simulator, &buffer, buffer.count, Int32(MSG_DONTWAIT)) }
        return count == 0
    }
}

/// The connections of one reader, whose other ends are a test's. They end with the reader and this object.
final class SocketPairs: Sendable {
    private let pairs = Locked<[SocketPair]>([])
    private let patience: Duration
    private let greeting: String?

    /// - Parameters:
    ///   - patience: how long the reader waits for what the test sends.
    ///   - greeting: the line with which each connection begins.
    init(patience: Duration = .seconds(60), greeting: String? = FakeSimulator.greeting) {
        (self.patience, self.greeting) = (patience, greeting)
    }

    deinit { for pair in all { close(pair.simulator) } }

    /// The connections so far.
    var all: [SocketPair] { pairs.withLock { $0 } }

    /// Makes the reader.
    func makeReader(_ prepare: @escaping @Sendable (SocketPair) -> Void = { _ in }) -> SimulatorReader {
        SimulatorReader(patience: patience) { [self] () throws(LinkError) in
            let pair = try SocketPair()
            if let greeting { pair.send(greeting) }
            prepare(pair)
            pairs.withLock { $0.append(pair) }
            return pair.reader
        }
    }
}
