// SPDX-License-Identifier: Apache-2.0
import Foundation
package import UniversalLinks

/// A store of compiled association files by domain. Each file is compiled once, and again when its bytes change.
///
/// Share one instance in a process. Any thread may use it.
package final class CompiledAssociations: @unchecked Sendable {
    // Sendable because the lock guards everything that changes.
    private struct Entry {
        var file: [UInt8]
        /// nil if the file is invalid.
        var matcher: LinkMatcher?
    }

    private let lock = NSLock()
    private var entries: [String: Entry] = [:]
    private var count = 0

    /// Creates an empty store.
    package init() {}

    /// Returns the compiled files of domains, without the invalid ones, and forgets the files of all other domains.
    ///
    /// - Parameter files: the files, by domain.
    package func matchers(of files: [String: [UInt8]]) -> [String: LinkMatcher] {
        let known = lock.withLock { self.entries }
        var entries: [String: Entry] = [:]
        var compilations = 0
        for (domain, file) in files {
            if let entry = known[domain], entry.file == file {
                entries[domain] = entry
            } else {
                // Outside the lock, because compiling takes long.
                let parsed = try? AssociationFile(parsing: Data(file))
                entries[domain] = Entry(file: file, matcher: parsed.map { LinkMatcher($0) })
                compilations += 1
            }
        }
        lock.withLock {
            self.entries = entries
            count += compilations
        }
        return entries.compactMapValues(\.matcher)
    }

    /// The number of files that were compiled so far.
    package var compilations: Int { lock.withLock { count } }
}
