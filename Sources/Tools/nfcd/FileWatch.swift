// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// Reports events of files and in folders.
final class FileWatch {
    private let descriptor: CInt
    private let source: (any DispatchSourceRead)?
    private var watched: Set<String> = []

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

    /// Adds a path; false when that is not possible.
    @discardableResult
    func add(_ path: String, _ events: Int32) -> Bool {
        guard !watched.contains(path), descriptor >= 0 else { return true }
        guard unsafe inotify_add_watch(descriptor, path, UInt32(events)) >= 0 else { return false }
        watched.insert(path)
        return true
    }

    /// Forgets all other paths.
    func keep(_ paths: Set<String>) { watched.formIntersection(paths) }
}
