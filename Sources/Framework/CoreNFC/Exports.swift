// SPDX-License-Identifier: Apache-2.0

// On Apple's platforms, importing Core NFC also imports Foundation. Many clients import only Core NFC.
@_exported public import Foundation
