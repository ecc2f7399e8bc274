// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Reports events of files and in folders.
final class FileWatch {
    private let descriptor: CInt
    private let source: (any DispatchSourceRead)?

    /// Starts to watch. Reports nothing if the system can't watch files.
    init(_ onChange: @escaping () -> Void) {
        let descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        self.descriptor = descriptor
        guard descriptor >= 0 else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler {
            MainActor.assumeIsolated {
                var buffer = [UInt8](repeating: 0, count: 16 << 10)
                while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
                onChange()
            }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        self.source = source
    }

    isolated deinit { source?.cancel() }

    /// Adds what is at a path now. For what was added before this changes nothing; what can't be watched is left out.
    func add(_ path: String, _ events: Int32) { _ = unsafe inotify_add_watch(descriptor, path, UInt32(events)) }
}
