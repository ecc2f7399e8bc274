// SPDX-License-Identifier: Apache-2.0
import Glibc
import SimulatorDriver
import SimulatorTesting
import TagLink

/// The connections of one reader, whose other ends are a test's. They end with the reader and this object.
final class SocketPairs: Sendable {
    private let pairs = Locked<[SocketPair]>([])
    private let patience: Duration
    private let greets: Bool

    /// - Parameters:
    ///   - patience: how long the reader waits for what the test sends.
    ///   - greets: whether each connection begins with a greeting.
    init(patience: Duration = .seconds(60), greets: Bool = true) {
        self.patience = patience
        self.greets = greets
    }

    deinit { for pair in all { close(pair.simulator) } }

    /// The connections so far.
    var all: [SocketPair] { pairs.withLock { $0 } }

    /// Makes the reader.
    func makeReader() -> SimulatorReader {
        SimulatorReader(patience: patience) { [self] () throws(LinkError) in
            let pair = try SocketPair()
            if greets { pair.send(FakeSimulator.greeting) }
            pairs.withLock { $0.append(pair) }
            return pair.reader
        }
    }
}

extension SocketPair {
    /// Fills the connection, so that the reader can send nothing more.
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
