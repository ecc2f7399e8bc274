// SPDX-License-Identifier: Apache-2.0

extension NFCTagReaderSession {
    /// What a session looks for: technologies, and perhaps only some of the applications and systems in the app's
    /// property list.
    ///
    /// Not Sendable, as in Apple's SDK: a client may declare that conformance itself.
    public struct Configuration {
        /// The technologies to look for, at least one.
        public var pollingOption: PollingOption

        /// The applications to look for on ISO/IEC 14443 cards, in order, in hexadecimal digits. The session ignores
        /// those that are not in the property list. If empty, it looks for all applications in the property list.
        public var iso7816SelectIdentifiers: [String]

        /// The FeliCa systems to look for, in order, in hexadecimal digits. The session ignores those that are not in
        /// the property list. If empty, it looks for all systems in the property list.
        public var feliCaSystemCodes: [String]

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - pollingOption: the technologies to look for.
        ///   - iso7816SelectIdentifiers: the applications to look for; empty for all in the property list.
        ///   - feliCaSystemCodes: the FeliCa systems to look for; empty for all in the property list.
        public init(
            pollingOption: PollingOption,
            iso7816SelectIdentifiers: [String] = [],
            feliCaSystemCodes: [String] = []
        ) {
            self.pollingOption = pollingOption
            self.iso7816SelectIdentifiers = iso7816SelectIdentifiers
            self.feliCaSystemCodes = feliCaSystemCodes
        }
    }
}
