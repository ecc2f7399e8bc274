// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The lines of standard error during the full screen. They appear in its last line and in the help.
@MainActor
final class StandardErrorNotes {
    private let source: (any DispatchSourceRead)?
    private var rest = Data()
    /// The lines so far.
    private(set) var lines: [String] = []
    private let onLine: (String) -> Void

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - descriptor: the non-blocking read end of the pipe; -1 when there is none.
    ///   - onLine: called with each line.
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

    /// Stops reading. ``FullScreen/leave()`` then prints the lines on the person's own screen.
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
            // The number of lines is limited, so that repeated notes don't fill the memory.
            if lines.count < 100 { lines.append(line) }
            onLine(line)
        }
    }
}
