// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The readers that are plugged into the machine, for a program that uses all of them.
///
/// Readers that have to be named, such as a PN532 on a serial line, are not among them.
public enum MachineReaders {
    /// A reader that is plugged in.
    public struct Listed: Sendable, Hashable {
        /// What ``ReaderConfiguration/reader`` takes to use this reader, such as `pcsc:ACS ACR122U 00 00`.
        public let reader: String
        /// The reader's own name.
        public let name: String
    }

    /// Returns the contactless readers that are plugged in now, in the order of the system.
    public static func list() async -> [Listed] {
        var listed: [Listed] = []
        for kind in ReaderKind.all where kind.observeReaders != nil {
            for report in await kind.reports?(false) ?? [] where report.isContactless == true {
                listed.append(Listed(reader: "\(kind.scheme):\(report.name)", name: report.name))
            }
        }
        return listed
    }

    /// Returns why no reader is there, for each kind whose readers are found by themselves, as sentences for people.
    ///
    /// - Parameter patience: the maximum time to wait for a service that does not answer.
    public static func absences(within patience: Duration = .seconds(5)) -> [String] {
        ReaderKind.all.filter { $0.observeReaders != nil }.compactMap { kind in
            var configuration = ReaderConfiguration(reader: kind.scheme)
            configuration.patience = patience
            guard case .none(let reason) = kind.make(ReaderName(kind.scheme), configuration, nil).reader else {
                return nil
            }
            return reason
        }
    }

    /// Reports when a reader may have been plugged in or unplugged. Costs no time in between.
    ///
    /// - Parameter handler: called after each change, on any thread. Then ask for the ``list()`` again.
    /// - Returns: keeps the observations while they exist.
    public static func observe(_ handler: @escaping @Sendable () -> Void) -> [PresenceObservation] {
        ReaderKind.all.compactMap { $0.observeReaders?(handler) }
    }
}
