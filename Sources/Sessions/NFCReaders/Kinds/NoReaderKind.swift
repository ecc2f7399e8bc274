// SPDX-License-Identifier: Apache-2.0

extension ReaderKind {
    /// No reader, for a process that is to have none.
    static let none = ReaderKind(
        scheme: "none",
        title: "none",
        forms: ["none"],
        usage: "none",
        use: .nothing,
        make: { name, configuration, _ in
            guard name.rest == nil else { return .unknown(name) }
            return ResolvedReader(none: "\(configuration.readerSource) is none, so there is no reader.")
        },
        problem: { $0.rest == nil ? nil : .unknown }
    )
}
