// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The lines that the process writes to standard error while the full screen is up, for its last line and its help.
@MainActor
final class StandardErrorNotes {
    private let source: (any DispatchSourceRead)?
    private var rest = Data()
    /// The lines that came.
    private(set) var lines: [String] = []
    private let onLine: (String) -> Void

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - descriptor: where they come, without waiting; -1 when they don't.
    ///   - onLine: takes each line.
    init(_ descriptor: Int32, onLine: @escaping (String) -> Void) {
        self.onLine = onLine
        guard descriptor >= 0 else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        self.source = source
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read(descriptor) } }
        source.activate()
    }

    /// Ends reading, and leaves all that it was to ``FullScreen/leave()``, which shows it on the person's own screen.
    func end() {
        source?.cancel()
        for line in lines { StandardError.writeLine(line) }
    }

    private func read(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            rest.append(contentsOf: buffer[..<count])
        }
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = Data(rest[(end + 1)...])
            guard !line.isEmpty else { continue }
            // Something that repeats itself does not fill the memory.
            if lines.count < 100 { lines.append(line) }
            onLine(line)
        }
    }
}
