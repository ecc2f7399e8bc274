// SPDX-License-Identifier: Apache-2.0

extension NFCEnvironment {
    /// The environment of the process, made when it is first used.
    public static let process = NFCEnvironment(reader: .none(reason: "soon"))
}
