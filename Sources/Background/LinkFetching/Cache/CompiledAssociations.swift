// SPDX-License-Identifier: Apache-2.0
import Foundation
public import UniversalLinks

/// Association files that are compiled already, by domain: a file is compiled once, until its bytes change.
///
/// Share one between all questions of a process; it may be asked on any thread.
public final class CompiledAssociations: @unchecked Sendable {
    // Sendable because the lock guards all that changes.
    private struct Entry {
        var file: [UInt8]
        /// nil where the file is none.
        var matcher: LinkMatcher?
    }

    private let lock = NSLock()
    private var entries: [String: Entry] = [:]
    private var count = 0

    /// Creates an empty one.
    public init() {}

    /// The compiled files of domains; those that are none are left out. The files of other domains are forgotten.
    ///
    /// - Parameter files: the files, by domain.
    public func matchers(of files: [String: [UInt8]]) -> [String: LinkMatcher] {
        let known = lock.withLock { self.entries }
        var entries: [String: Entry] = [:]
        var compilations = 0
        for (domain, file) in files {
            if let entry = known[domain], entry.file == file {
                entries[domain] = entry
            } else {
                // Without the lock: it takes long.
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

    /// How many files were compiled so far.
    package var compilations: Int { lock.withLock { count } }
}
