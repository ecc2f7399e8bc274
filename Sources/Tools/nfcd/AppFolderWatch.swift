// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCRuntime

/// Reports that something has changed in a folder of installed apps, which may come and go.
final class AppFolderWatch {
    private let source: any DispatchSourceRead

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - onChange: called when a file was written, came or went.
    /// - Returns: nil where the system has no such watch.
    init?(_ path: String, onChange: @escaping () -> Void) {
        guard let watch = FolderWatch(path) else { return nil }
        source = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor, queue: .main)
        var wasThere = watch.isThere
        source.setEventHandler {
            MainActor.assumeIsolated {
                let changes = watch.changes()
                // While the folder is missing, what is seen happens in a folder above it.
                guard changes.isThere || wasThere else { return }
                wasThere = changes.isThere
                onChange()
            }
        }
        source.activate()
    }

    isolated deinit { source.cancel() }
}
