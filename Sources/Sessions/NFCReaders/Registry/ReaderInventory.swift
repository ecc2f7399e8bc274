// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// The readers of a machine: the one that is used, and the others.
package struct ReaderInventory: Sendable {
    /// The reader that is used.
    package let used: ReaderReport
    /// The other readers.
    package let others: [ReaderReport]

    /// Looks for readers.
    ///
    /// - Parameters:
    ///   - driver: the reader that is used.
    ///   - kinds: the kinds of readers that there are.
    ///   - isAlone: whether that reader was named, so that no other is of interest.
    ///   - asksReaders: whether each reader is asked for what it can do, which opens the tag on it.
    package init(
        using driver: any ReaderDriver,
        among kinds: [ReaderKind] = ReaderKind.all,
        isAlone: Bool,
        askingReaders asksReaders: Bool
    ) async {
        let kind = kinds.first { $0.owns(driver) }
        var others: [ReaderReport] = []
        var found: ReaderReport?
        // The virtual reader comes first in help texts, and last here: it is always there.
        for other in kinds.reversed() {
            let isOwn = other.scheme == kind?.scheme
            guard let reports = other.reports, isOwn || !isAlone else { continue }
            for report in await reports(asksReaders) {
                if isOwn, found == nil, report.name == driver.name { found = report } else { others.append(report) }
            }
        }
        var used = found ?? ReaderReport(name: driver.name, kind: kind?.scheme, technologies: driver.technologies)
        if found == nil { kind?.describe(&used) }
        self.used = used
        self.others = isAlone ? [] : others
    }
}
