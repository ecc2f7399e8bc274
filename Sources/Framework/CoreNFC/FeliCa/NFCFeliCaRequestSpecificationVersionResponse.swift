// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The answer to a Request Specification Version command.
public struct NFCFeliCaRequestSpecificationVersionResponse {
    /// 0 when the command was carried out.
    public var statusFlag1: Int
    /// The reason, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int
    /// The version of the basic specification, 2 bytes in packed decimal, least significant first.
    public var basicVersion: Data?
    /// The versions of options, 2 bytes each in packed decimal, least significant first.
    public var optionVersion: Data?

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(statusFlag1: Int, statusFlag2: Int, basicVersion: Data?, optionVersion: Data?) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
        self.basicVersion = basicVersion
        self.optionVersion = optionVersion
    }
}
