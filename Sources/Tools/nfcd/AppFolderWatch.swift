// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LinuxSupport

/// Reports changes in a folder of installed apps, as long as the service runs. The folder may be created and removed
/// meanwhile.
final class AppFolderWatch {
    private let source: any DispatchSourceRead

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - onChange: called when a file was written, added or removed.
    /// - Returns: nil if the system can't watch folders.
    init?(_ path: String, onChange: @escaping () -> Void) {
        guard let watch = FolderWatch(path) else { return nil }
        source = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor, queue: .main)
        source.setEventHandler {
            MainActor.assumeIsolated {
                // Events also come from the folders above it.
                if watch.changes().isAny { onChange() }
            }
        }
        source.activate()
    }
}
