// SPDX-License-Identifier: Apache-2.0

extension NFCTagReaderSession {
    /// What a session looks for: technologies, and a part of the applications and systems that the app's property list has.
    ///
    /// Not Sendable, as in Apple's SDK: a client may declare that itself.
    public struct Configuration {
        /// The technologies to look for, at least one.
        public var pollingOption: PollingOption

        /// The applications to look for on ISO/IEC 14443 cards, in order, in hexadecimal digits. Those that the property list
        /// doesn't have are left out; none stands for all of the property list.
        public var iso7816SelectIdentifiers: [String]

        /// The FeliCa systems to look for, in order, in hexadecimal digits. Those that the property list doesn't have are
        /// left out; none stands for all of the property list.
        public var feliCaSystemCodes: [String]

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - pollingOption: the technologies to look for.
        ///   - iso7816SelectIdentifiers: the applications to look for; none for all of the property list.
        ///   - feliCaSystemCodes: the FeliCa systems to look for; none for all of the property list.
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
