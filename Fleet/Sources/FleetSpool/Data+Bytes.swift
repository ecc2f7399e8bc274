// SPDX-License-Identifier: Apache-2.0
import Foundation

extension [UInt8] {
    var data: Data { Data(self) }
}
