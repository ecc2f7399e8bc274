// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A number of seconds on the command line, in decimal digits: `3`, `0.5`.
struct SecondsArgument: ExpressibleByArgument {
    /// The seconds.
    let value: Double

    init?(argument: String) {
        // Double(_:) also accepts hexadecimal digits, exponents, infinity and signs.
        guard argument.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let value = Double(argument)
        else { return nil }
        self.value = value
    }
}
