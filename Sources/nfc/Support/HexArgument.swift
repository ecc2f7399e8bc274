// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Octets given as hex on the command line.
struct HexArgument: ExpressibleByArgument {
    var octets: [UInt8]

    init?(argument: String) {
        guard case .success(let octets) = HexText.octets(Array(argument.utf8)[...]) else { return nil }
        self.octets = octets
    }

    static var defaultCompletionKind: CompletionKind { .default }
}
